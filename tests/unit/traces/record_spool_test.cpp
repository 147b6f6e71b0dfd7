// SPDX-License-Identifier: Apache-2.0
#include "traces/record_spool.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>

using namespace llmscape;
using namespace llmscape::traces;

TEST_CASE("records come by time, in memory and from runs in a file, with all that they say") {
  // 0: a run for every record; 4,000: for every few dozen; the last: none.
  for (const std::size_t most_bytes : {std::size_t{0}, std::size_t{4'000}, std::size_t{1} << 20}) {
    CAPTURE(most_bytes);
    RecordSpool spool(most_bytes);
    constexpr std::int64_t kRecords = 500;
    for (std::int64_t i = 0; i < kRecords; ++i) {
      TimedRecord timed;
      timed.nanoseconds = (i * 37) % 100;  // each time five times
      timed.record.prompt_tokens = i + 1;
      timed.record.output_tokens = 2 * i + 1;
      timed.record.known_content = i % 2 == 0;
      timed.record.session = i % 3 == 0 ? "" : std::string(static_cast<std::size_t>(i), 's');
      if (i % 5 == 0) timed.record.give_up = Seconds(0.25 * static_cast<double>(i));
      if (i == 250) timed.record.prompt.assign(10'000, {7, 3, 1});  // longer than a piece of a run
      timed.record.prompt.push_back({static_cast<ContentId>(i) << 40, i + 1, i % 2});
      spool.add(timed);
    }
    spool.sort();
    std::int64_t count = 0, last = -1, last_index = -1;
    while (const auto timed = spool.next()) {
      const TraceRecord& record = timed->record;
      const std::int64_t i = record.prompt_tokens - 1;
      CHECK(timed->nanoseconds == (i * 37) % 100);
      CHECK((timed->nanoseconds > last || (timed->nanoseconds == last && i > last_index)));
      CHECK(record.output_tokens == 2 * i + 1);
      CHECK(record.known_content == (i % 2 == 0));
      CHECK(record.session == (i % 3 == 0 ? "" : std::string(static_cast<std::size_t>(i), 's')));
      CHECK(record.give_up == (i % 5 == 0 ? std::optional(Seconds(0.25 * static_cast<double>(i))) : std::nullopt));
      CHECK(record.prompt.size() == (i == 250 ? 10'001 : 1));
      CHECK(record.prompt.back() == Segment{static_cast<ContentId>(i) << 40, i + 1, i % 2});
      last = timed->nanoseconds;
      last_index = i;
      ++count;
    }
    CHECK(count == kRecords);
  }
}

TEST_CASE("no record is none") {
  RecordSpool spool;
  spool.sort();
  CHECK_FALSE(spool.next());
}
