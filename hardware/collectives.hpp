// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"
#include "hardware/fit.hpp"
#include "hardware/size_correction.hpp"
#include "models/operator.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llmscape::hardware {

// A measured collective of one software and number of ranks: latency + x / bandwidth + root_term sqrt(x), x being the
// bytes that a ring moves through each rank. Software changes protocols and kernels with the size of the tensor, each
// at its own sizes: `correction` has what it took beside that.
struct CollectiveFit : Fit {
  models::Collective::Kind kind = models::Collective::Kind::all_reduce;
  int ranks = 2;
  Seconds latency;
  BytesPerSecond bandwidth;
  Seconds root_term;           // time per square root of a byte
  std::optional<Bytes> below;  // of the tensor: larger ones are left to other software
  std::optional<SizeCorrection> correction;
};
const Fields<CollectiveFit>& collective_fields();

// Devices that the fast links join (an NVLink domain), and the slower way between two such.
struct Domain {
  int devices = 0;
  Sourced<BytesPerSecond> outer_bandwidth;  // of one device, one direction
  Sourced<Seconds> outer_latency;           // of one hop
};

// How the devices of a replica are joined.
struct Links {
  std::vector<CollectiveFit> collectives;
  Sourced<BytesPerSecond> bandwidth;  // of one device, one direction: used where no collective was measured
  Sourced<Seconds> latency;           // of one hop
  std::optional<Domain> domain;       // absent: all devices of a replica are in one
};
const Fields<Links>& links_fields();

// Bytes that a ring moves through each rank: 2 (n-1)/n of the tensor for an all-reduce, all of it for a send, (n-1)/n
// else.
Bytes moved(const models::Collective&);
// The same of a rank on average, where ranks differ.
Bytes average_moved(const models::Collective&);

// The fastest software that was measured for this kind, size and number of ranks; failing that, for the next number of
// ranks, or for an all-reduce if that was measured nearer; beyond the table a ring over the links: hops x latency + x /
// bandwidth, which is no more than the widest measured ring of the kind had. 0 for one rank. Where the ranks lie in
// several domains and no row is of so many, each step is taken inside the domains first and then, on a share of the
// tensor for each device inside, as a ring between them: an all-reduce is a reduce-scatter inside, an all-reduce
// between and an all-gather inside.
Seconds collective_time(const Links&, const models::Collective&);
// Of that time, how long links of a rank on average have nothing to send, where ranks differ.
Seconds average_wait(const Links&, const models::Collective&);
// Messages of a ring one after another, each of which takes a latency: 2 (n-1) of an all-reduce, one of a send and of
// an all-to-all, whose messages go out at once, n-1 of the others.
double hops(const models::Collective&);
// What of it crosses from domain to domain, for one device of each: a collective over the domains, priced as bytes over
// the outer bandwidth and hops of the outer latency. Nothing where all of it stays inside one, or was measured as one.
std::optional<models::Collective> between_domains(const Links&, const models::Collective&);
// Whether the table covers it, or what of it stays inside a domain; otherwise collective_time is the assumed ring.
bool measured(const Links&, const models::Collective&);
// The weakest of the measured collectives; assumed where there are none.
Tag provenance(const Links&);
// How measured collectives lay about their fits: the last that says so speaks for all of its software's. None: unknown.
Residuals residuals(const Links&);

}  // namespace llmscape::hardware
