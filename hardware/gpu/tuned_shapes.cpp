// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/tuned_shapes.hpp"

#include <algorithm>

namespace llmscape::hardware {

bool is_tuned(std::span<const TunedShape> shapes, const models::GroupedGemm& experts) {
  return std::ranges::find(shapes, TunedShape{experts.experts_held, experts.width}) != shapes.end();
}

const Fields<TunedShape>& tuned_shape_fields() {
  static const Fields<TunedShape> fields = [] {
    using S = TunedShape;
    Fields<S> f("tuned", "experts that an engine ships a tuned configuration for");
    f.add("experts", &S::experts, "experts that a rank holds").required().at_least(1);
    f.add("width", &S::width, "width of one between its products, on the rank").required().at_least(1);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
