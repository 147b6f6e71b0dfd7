// SPDX-License-Identifier: Apache-2.0
#include "hardware/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmscape::hardware {
namespace {

using Kind = models::Collective::Kind;

bool takes(const CollectiveFit& fit, Kind kind, double bytes) {
  return fit.kind == kind && (!fit.below || bytes < fit.below->si());
}

// The smallest number of ranks, not below those of `c`, that a collective of `kind` and of its size was measured on; 0
// if there is none.
int measured_ranks(const Links& links, Kind kind, const models::Collective& c) {
  int best = 0;
  for (const CollectiveFit& fit : links.collectives)
    if (takes(fit, kind, c.bytes) && fit.ranks >= c.ranks && (best == 0 || fit.ranks < best)) best = fit.ranks;
  return best;
}

// The kind whose rows stand for `c`, and the ranks of those rows (0: the table has none).
std::pair<Kind, int> rows_for(const Links& links, const models::Collective& c) {
  const int own = measured_ranks(links, c.kind, c);
  if (own == c.ranks || c.kind == Kind::send) return {c.kind, own};
  const int reduce = measured_ranks(links, Kind::all_reduce, c);
  const bool nearer = own > 0 && (reduce == 0 || own <= reduce);
  return nearer ? std::pair(c.kind, own) : std::pair(Kind::all_reduce, reduce);
}

// Ranks of `c` that share a domain with one of them.
int ranks_inside(const Links& links, const models::Collective& c) {
  if (!links.domain || (c.stride == 1 && rows_for(links, c).second > 0)) return c.ranks;
  const int most = std::clamp(links.domain->devices / c.stride, 1, c.ranks);
  const int domains = (c.ranks + most - 1) / most;
  return (c.ranks + domains - 1) / domains;
}

// Of the sends between the stages of a pipeline the share that leaves a domain: those between two stages that do not
// lie in one together. Two of four devices each lie in a domain of eight, so of the three sends between four such
// stages the second leaves it.
double leaving(const Links& links, const models::Collective& c) {
  if (!links.domain) return 0;
  int crossing = 0;
  for (int stage = 0; stage + 1 < c.stages; ++stage) {
    const int first = stage * c.stride, last = (stage + 2) * c.stride - 1;
    if (first / links.domain->devices != last / links.domain->devices) ++crossing;
  }
  return static_cast<double>(crossing) / (c.stages - 1);
}

Seconds ring_time(const models::Collective& c, Seconds latency, BytesPerSecond bandwidth) {
  return hops(c) * latency + moved(c) / bandwidth;
}

const CollectiveFit* widest_ring(const Links& links, Kind kind, double bytes) {
  const CollectiveFit* widest = nullptr;
  for (const CollectiveFit& fit : links.collectives)
    if (takes(fit, kind, bytes) &&
        (!widest || fit.ranks > widest->ranks || (fit.ranks == widest->ranks && fit.bandwidth > widest->bandwidth)))
      widest = &fit;
  return widest;
}

// What one device reaches in a ring of more ranks than were measured: the links' figure, but no more than the widest
// ring of its kind, or of the all-reduces that stand for it, whose slowest link a larger one crosses too.
BytesPerSecond beyond_rows(const Links& links, const models::Collective& c) {
  const CollectiveFit* widest = widest_ring(links, c.kind, c.bytes);
  if (!widest && c.kind != Kind::send) widest = widest_ring(links, Kind::all_reduce, c.bytes);
  return widest ? std::min<BytesPerSecond>(*links.bandwidth, widest->bandwidth) : *links.bandwidth;
}

// Of ranks that the fast links join.
Seconds time_inside(const Links& links, const models::Collective& c) {
  const Bytes x = moved(c);
  const auto [kind, ranks] = rows_for(links, c);
  if (ranks == 0) return ring_time(c, *links.latency, beyond_rows(links, c));
  Seconds best(std::numeric_limits<double>::infinity());
  for (const CollectiveFit& fit : links.collectives)
    if (takes(fit, kind, c.bytes) && fit.ranks == ranks) {
      const Seconds form = fit.latency + x / fit.bandwidth + std::sqrt(x.si()) * fit.root_term;
      best = std::min(best, fit.correction ? form * fit.correction->factor(c.bytes) : form);
    }
  return best;
}

// What of `c` is done by the `inside` ranks of each domain, one collective after another.
std::vector<models::Collective> inner_parts(const models::Collective& c, int inside) {
  switch (c.kind) {
    case Kind::all_reduce: return {{Kind::reduce_scatter, c.bytes, inside}, {Kind::all_gather, c.bytes, inside}};
    case Kind::send: return {};
    case Kind::all_gather:
    case Kind::reduce_scatter:
    case Kind::all_to_all: break;
  }
  return {{c.kind, c.bytes, inside}};
}

// What is left between the domains, for one device of each: all it was told to send, or its share of the tensor.
models::Collective outer_part(const models::Collective& c, int inside) {
  const bool whole = c.kind == Kind::all_to_all || c.kind == Kind::send;
  const int domains = (c.ranks + inside - 1) / inside;
  double share = whole ? 1 : 1.0 / inside;
  if (c.routing) share *= distinct_ranks(*c.routing, domains) / distinct_ranks(*c.routing, c.ranks);
  models::Collective outer{c.kind, c.bytes * share, domains};
  if (c.average) outer.average = *c.average * share;
  return outer;
}

models::Collective average_of(models::Collective c) {
  c.bytes = c.average.value_or(c.bytes);
  return c;
}

}  // namespace

Bytes moved(const models::Collective& c) {
  if (c.ranks <= 1) return Bytes();
  if (c.kind == Kind::send) return Bytes(c.bytes);
  return Bytes((c.kind == Kind::all_reduce ? 2.0 : 1.0) * (c.ranks - 1) / c.ranks * c.bytes);
}

// NCCL takes 9.8, 10.8 and 11.3 us for all-to-alls of small messages over 2, 4 and 8 ranks of a B200.
double hops(const models::Collective& c) {
  switch (c.kind) {
    case Kind::all_reduce: return 2.0 * (c.ranks - 1);
    case Kind::send:
    case Kind::all_to_all: return 1;
    case Kind::all_gather:
    case Kind::reduce_scatter: break;
  }
  return c.ranks - 1;
}

Bytes average_moved(const models::Collective& c) { return moved(average_of(c)); }

bool measured(const Links& links, const models::Collective& c) {
  if (c.ranks <= 1) return true;
  if (c.kind == Kind::send) return leaving(links, c) == 1 || rows_for(links, c).second > 0;
  const int inside = ranks_inside(links, c);
  if (inside == c.ranks) return rows_for(links, c).second > 0;
  return std::ranges::all_of(inner_parts(c, inside), [&](const auto& part) { return measured(links, part); });
}

std::optional<models::Collective> between_domains(const Links& links, const models::Collective& c) {
  if (c.ranks <= 1) return std::nullopt;
  const int inside = ranks_inside(links, c);
  return inside < c.ranks ? std::optional(outer_part(c, inside)) : std::nullopt;
}

Seconds collective_time(const Links& links, const models::Collective& c) {
  if (c.ranks <= 1) return Seconds();
  if (c.kind == Kind::send) {  // on average
    const double out = leaving(links, c);
    Seconds sum;
    if (out > 0) sum += out * ring_time(c, *links.domain->outer_latency, *links.domain->outer_bandwidth);
    if (out < 1) sum += (1 - out) * time_inside(links, c);
    return sum;
  }
  if (const int inside = ranks_inside(links, c); inside < c.ranks) {
    const Domain& domain = *links.domain;
    Seconds sum = ring_time(outer_part(c, inside), *domain.outer_latency, *domain.outer_bandwidth);
    for (const models::Collective& part : inner_parts(c, inside)) sum += collective_time(links, part);
    return sum;
  }
  return time_inside(links, c);
}

Seconds average_wait(const Links& links, const models::Collective& c) {
  if (!c.average) return Seconds();
  return std::max(Seconds(), collective_time(links, c) - collective_time(links, average_of(c)));
}

Tag provenance(const Links& links) {
  Tag tag = links.collectives.empty() ? Tag::assumed : Tag::measured;
  for (const CollectiveFit& fit : links.collectives) tag = weaker(tag, fit.tag);
  return tag;
}

Residuals residuals(const Links& links) {
  for (auto fit = links.collectives.rbegin(); fit != links.collectives.rend(); ++fit)
    if (known(fit->residuals)) return fit->residuals;
  return {};
}

const Fields<CollectiveFit>& collective_fields() {
  static const Fields<CollectiveFit> fields = [] {
    using P = CollectiveFit;
    Fields<P> f("collective",
                "a measured collective: latency + x / bandwidth + root_term sqrt(x), x bytes through each rank");
    f.add_enum("kind", &P::kind,
               {{"all_reduce", Kind::all_reduce},
                {"all_gather", Kind::all_gather},
                {"reduce_scatter", Kind::reduce_scatter},
                {"all_to_all", Kind::all_to_all},
                {"send", Kind::send}},
               "which collective")
        .required();
    f.add("ranks", &P::ranks, "number of devices").required().at_least(2);
    f.add("latency", &P::latency, "time of an empty message").required().at_least(0);
    f.add("bandwidth", &P::bandwidth, "bytes through each rank per second, large messages").required().above(0);
    f.add("root_term", &P::root_term, "time per square root of a byte").at_least(0);
    f.add("below", &P::below, "tensors from this size on are left to other rows; absent: takes all").above(0);
    f.add_group("correction", &P::correction, size_correction_fields(),
                "what it takes beside that, by the size of the tensor; absent: nothing");
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

const Fields<Links>& links_fields() {
  static const Fields<Domain> domain = [] {
    Fields<Domain> f("domain", "devices that the fast links join, and the way between two such groups");
    f.add("devices", &Domain::devices, "how many").required().at_least(1);
    f.add("outer_bandwidth", &Domain::outer_bandwidth, "of one device to other domains, one direction")
        .required()
        .above(0);
    f.add("outer_latency", &Domain::outer_latency, "of one hop between domains").required().at_least(0);
    return f;
  }();
  static const Fields<Links> fields = [] {
    Fields<Links> f("links", "how the devices of a replica are joined");
    f.add("bandwidth", &Links::bandwidth, "of one device, one direction").required().above(0);
    f.add("latency", &Links::latency, "of one hop").required().at_least(0);
    f.add_group("domain", &Links::domain, domain, "how far these links reach; absent: all devices of a replica");
    f.add_group("collectives", &Links::collectives, collective_fields(),
                "measured collectives; the fastest row of the ranks counts");
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
