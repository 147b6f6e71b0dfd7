// SPDX-License-Identifier: Apache-2.0
// The one file that includes Boost.Math, whose headers are heavy.
#include <boost/math/distributions/students_t.hpp>

#include "base/statistics.hpp"

namespace llmscape {

double student_t_quantile(double level, double degrees) {
  // In double throughout: long double is another format on another machine, and the bytes of a result are the same.
  using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
  return boost::math::quantile(boost::math::students_t_distribution<double, InDouble>(degrees), level);
}

}  // namespace llmscape
