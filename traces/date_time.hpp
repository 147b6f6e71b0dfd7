// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace llmscape::traces {

// Nanoseconds since 1970 of a date and time as RFC 3339 writes it, with a space or a T between them and a fraction of
// up to nine digits: "2023-11-16 18:17:03.9799600", "2024-05-10T00:00:00Z", "2024-05-10 02:00:00+02:00". UTC where it
// names no offset. Nothing for other text, a day or hour that does not exist, and years before 1970 or after 2200.
std::optional<std::int64_t> parse_date_time(std::string_view text);

}  // namespace llmscape::traces
