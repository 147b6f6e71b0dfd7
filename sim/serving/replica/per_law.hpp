// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/container/small_vector.hpp>

namespace llmscape::serving {

// One entry for each KV law of a model. Most have one or two, which then lie with their owner: of a fleet no line of
// memory that can be spared is in the caches.
template <class T>
using PerLaw = boost::container::small_vector<T, 2>;

}  // namespace llmscape::serving
