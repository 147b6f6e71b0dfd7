// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/random.hpp"
#include "base/sobol.hpp"
#include "sim/explore/hypervolume.hpp"

namespace llmscape::explore {
namespace {

constexpr double kWorse = 1e3;            // than any scaled loss: what violates a constraint begins here
constexpr double kFurther = 0.5;          // of the moves to a value of an ordered gene, those that go on to the next
constexpr std::size_t kMostSteps = 4096;  // without finding anything new, before the space counts as known

class Optimizer {
 public:
  explicit Optimizer(const OptimizerQuery& query)
      : query_(query), random_(RandomStreams(query.seed).stream("optimize", 0)),
        size_(std::max<std::size_t>(8, (query.population + 3) / 4 * 4)) {}

  std::vector<Candidate> run() {
    start();
    auto population = chosen();
    for (std::size_t round = 0; left() > 0; ++round) {
      const std::size_t before = known_.size();
      // Of one objective over lists, neighbours are worth more than children: half of the rounds are theirs alone.
      const bool breeds = query_.objectives > 1 || has_intervals() || round % 2 == 1;
      if (breeds && population.size() == size_) population = generation(population);
      add(neighbours());
      if (known_.size() == before) add(draw(size_));
      if (known_.size() == before) break;
      if (query_.algorithm == EvolutionaryAlgorithm::nsga2 || population.size() < size_) population = chosen();
    }
    return std::move(known_);
  }

 private:
  // A gene that is a category, and its value; nothing: the whole space.
  using Niche = std::optional<std::pair<std::size_t, std::size_t>>;
  // Places in known_ of those that have the same losses: genes without effect make many of them, and neighbours of the
  // one are none of the other.
  struct Alike {
    std::vector<std::size_t> members;
    double share = 1;  // of the neighbours that are looked at
  };

  [[nodiscard]] static bool is_in(const Niche& niche, const Genome& genome) {
    return !niche || genome[niche->first] == niche->second;
  }
  [[nodiscard]] bool has_intervals() const {
    return std::ranges::any_of(query_.genes, [](const Gene& gene) { return gene.kind == Gene::Kind::continuous; });
  }
  [[nodiscard]] std::size_t left() const { return query_.evaluations - known_.size(); }
  [[nodiscard]] bool is_new(const Genome& genome) const {
    return !places_.contains(genome) && !query_.excluded(genome);
  }

  // Evaluates those that are new, as far as the budget goes.
  void add(const std::vector<Genome>& genomes) {
    std::vector<Genome> fresh;
    for (const Genome& genome : genomes)
      if (fresh.size() < left() && is_new(genome) && std::ranges::find(fresh, genome) == fresh.end())
        fresh.push_back(genome);
    if (fresh.empty()) return;
    std::vector<Judged> judged = query_.evaluate(fresh);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      places_[fresh[i]] = known_.size();
      known_.push_back({fresh[i], std::move(judged[i])});
    }
  }

  void start() {
    Sobol sobol(query_.seed);
    std::vector<Genome> genomes;
    std::set<Genome> seen;
    for (std::size_t drawn = 0; genomes.size() < std::min(query_.initial, left()) && drawn < kMostSteps; ++drawn) {
      const Sobol::Point point = sobol.next();
      Genome genome;
      for (std::size_t i = 0; i < query_.genes.size(); ++i) {
        const double place = i < point.size() ? point[i] : random_.uniform();
        genome.push_back(static_cast<std::size_t>(place * static_cast<double>(query_.genes[i].values)));
      }
      if (is_new(genome) && seen.insert(genome).second) genomes.push_back(std::move(genome));
    }
    add(genomes);
  }

  // From a random place the next configuration that is new.
  std::vector<Genome> draw(std::size_t count) {
    std::vector<Genome> genomes;
    while (genomes.size() < count) {
      Genome genome;
      for (const Gene& gene : query_.genes) genome.push_back(random_.below(gene.values));
      std::size_t steps = 0;
      while (steps < kMostSteps && (!is_new(genome) || std::ranges::find(genomes, genome) != genomes.end())) {
        advance(genome);
        ++steps;
      }
      if (steps == kMostSteps) break;
      genomes.push_back(std::move(genome));
    }
    return genomes;
  }

  // To the configuration behind it, the last gene fastest.
  void advance(Genome& genome) const {
    for (std::size_t i = genome.size(); i-- > 0;) {
      if (++genome[i] < query_.genes[i].values) return;
      genome[i] = 0;
    }
  }

  // Losses for the algorithm: scaled to the range of what is feasible, constraints first.
  void rescale() {
    low_.assign(query_.objectives, HUGE_VAL);
    high_.assign(query_.objectives, -HUGE_VAL);
    for (const Candidate& candidate : known_) {
      if (!candidate.judged.feasible()) continue;
      for (std::size_t k = 0; k < query_.objectives; ++k) {
        low_[k] = std::min(low_[k], candidate.judged.losses[k]);
        high_[k] = std::max(high_[k], candidate.judged.losses[k]);
      }
    }
  }
  [[nodiscard]] Losses scaled(const Judged& judged) const {
    if (!judged.feasible())
      return Losses(query_.objectives,
                    kWorse * (judged.losses.empty() ? 2 : 1 + judged.violation / (1 + judged.violation)));
    Losses losses = judged.losses;
    for (std::size_t k = 0; k < losses.size(); ++k)
      losses[k] = high_[k] > low_[k] ? (losses[k] - low_[k]) / (high_[k] - low_[k]) : 0;
    return losses;
  }

  // The best of all that is known, as the parents of a generation. Of one objective, one of each that are alike: the
  // best with its twins would leave no room for others.
  std::vector<Individual> chosen() {
    rescale();
    std::vector<Losses> losses;
    for (const Candidate& candidate : known_) losses.push_back(scaled(candidate.judged));
    std::vector<Individual> population;
    if (query_.objectives == 1) {
      std::map<Losses, std::vector<std::size_t>> alike;
      for (std::size_t i = 0; i < losses.size(); ++i) alike[losses[i]].push_back(i);
      for (const auto& [loss, members] : alike)
        if (population.size() < size_)
          population.push_back({known_[members[random_.below(members.size())]].genome, loss});
      if (population.size() == size_) return population;
      population.clear();
    }
    for (const std::size_t i : best_of(losses, size_)) population.push_back({known_[i].genome, losses[i]});
    return population;
  }

  std::vector<Individual> generation(const std::vector<Individual>& population) {
    const auto evaluate = [this](const std::vector<Genome>& genomes) {
      add(genomes);
      std::vector<Losses> losses;
      for (const Genome& genome : genomes) {
        const auto place = places_.find(genome);  // beyond the budget, or excluded: as bad as can be
        losses.push_back(scaled(place == places_.end() ? Judged{} : known_[place->second].judged));
      }
      return losses;
    };
    return next_generation(query_.genes, population, query_.algorithm, static_cast<std::uint32_t>(random_.bits()),
                           evaluate);
  }

  // New configurations beside those of the frontier so far, and beside those of the frontier of one category, another
  // each time: where a category needs other values of the rest, moving it alone leads to nothing better. Of one
  // objective, beside those that would be better still and violate a constraint, too: the way to the best may lead past
  // it.
  std::vector<Genome> neighbours() {
    rescale();
    const bool one = query_.objectives == 1;
    std::vector<Genome> found;
    add_neighbours(frontier({}), size_ / 2, {}, found);
    if (one) add_neighbours(beyond({}), size_ / 2, {}, found);
    const Niche niche = next_niche();
    if (!niche) return found;
    add_neighbours(frontier(niche), one ? size_ / 2 : size_ * 3 / 4, niche, found);
    if (one) add_neighbours(beyond(niche), size_ / 2, niche, found);
    return found;
  }

  // The next gene that is a category with its next value; nothing if none is.
  Niche next_niche() {
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t gene = 0; gene < query_.genes.size(); ++gene)
      for (std::size_t value = 0; query_.genes[gene].kind == Gene::Kind::category && value < query_.genes[gene].values;
           ++value)
        all.emplace_back(gene, value);
    if (all.empty()) return std::nullopt;
    return all[rounds_++ % all.size()];
  }

  // Of one objective the frontier is one point, which may be a dead end: the next best are there, too.
  [[nodiscard]] std::vector<Alike> frontier(const Niche& niche) const {
    std::vector<Losses> losses;
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (!known_[i].judged.feasible() || !is_in(niche, known_[i].genome)) continue;
      losses.push_back(scaled(known_[i].judged));
      of.push_back(i);
    }
    std::map<Losses, Alike> alike;
    const auto add_alike = [&](std::size_t i) { alike[losses[i]].members.push_back(of[i]); };
    if (query_.objectives > 1) std::ranges::for_each(non_dominated(losses), add_alike);
    else
      for (std::size_t i = 0; i < of.size(); ++i) add_alike(i);
    std::vector<Losses> front;
    std::vector<Alike> all;
    for (auto& [loss, members] : alike) {
      if (query_.objectives == 1 && front.size() == size_ / 4) break;
      front.push_back(loss);
      all.push_back(std::move(members));
    }
    // The share of each is what it dominates alone, beside an equal share for all.
    const std::vector<double> alone = exclusive_hypervolumes(front, Losses(query_.objectives, 1.1));
    const double sum = std::accumulate(alone.begin(), alone.end(), 0.);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].share = (sum > 0 ? alone[i] / sum : 0) + 1 / static_cast<double>(all.size());
    return all;
  }

  // What would be better than all that meets the constraints, least violations first: nothing known is as good and
  // violates less.
  [[nodiscard]] std::vector<Alike> beyond(const Niche& niche) const {
    std::vector<Losses> both;  // violation, loss
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const Judged& judged = known_[i].judged;
      if (judged.losses.empty() || !is_in(niche, known_[i].genome)) continue;
      both.push_back({judged.violation, judged.losses.front()});
      of.push_back(i);
    }
    std::map<Losses, Alike> alike;
    for (const std::size_t i : non_dominated(both))
      if (both[i].front() > 0) alike[both[i]].members.push_back(of[i]);
    std::vector<Alike> all;
    for (auto& [violation, members] : alike)
      if (all.size() < size_ / 4) all.push_back(std::move(members));
    return all;
  }

  // Neighbours of some of them, more of those with larger shares, until there are `most`. The niche is not left.
  void add_neighbours(const std::vector<Alike>& from, std::size_t most, const Niche& niche,
                      std::vector<Genome>& found) {
    if (from.empty()) return;
    std::vector<double> places, shares;
    for (const Alike& alike : from) {
      places.push_back(static_cast<double>(places.size()));
      shares.push_back(alike.share);
    }
    const Empirical draw(places, shares);
    const std::size_t enough = found.size() + most;
    for (std::size_t tried = 0; found.size() < enough && tried < 4 * size_; ++tried) {
      const std::vector<std::size_t>& members = from[static_cast<std::size_t>(draw.draw(random_))].members;
      const auto neighbour = neighbour_of(known_[members[random_.below(members.size())]].genome, niche);
      if (neighbour && std::ranges::find(found, *neighbour) == found.end()) found.push_back(*neighbour);
    }
  }

  // One gene moved: to a value nearby, or to any other of a category.
  std::optional<Genome> neighbour_of(const Genome& genome, const Niche& niche) {
    constexpr std::size_t kTries = 4;
    for (std::size_t tried = 0; tried < kTries; ++tried) {
      Genome moved = genome;
      const std::size_t i = random_.below(query_.genes.size());
      if (niche && i == niche->first) continue;
      moved[i] = moved_value(query_.genes[i], genome[i]);
      if (is_new(moved)) return moved;
    }
    return std::nullopt;
  }

  std::size_t moved_value(const Gene& gene, std::size_t value) {
    if (gene.values < 2) return value;
    if (gene.kind == Gene::Kind::category) return (value + 1 + random_.below(gene.values - 1)) % gene.values;
    const std::size_t reach = gene.kind == Gene::Kind::ordered ? jump(gene) : 1 + random_.below(1 + gene.values / 20);
    if (random_.chance(0.5)) return std::min(value + reach, gene.values - 1);
    return value < reach ? 0 : value - reach;
  }

  // To the next value of an ordered gene as often as beyond it: one that is no good between two that are must not wall
  // off the second. Distances are geometric.
  std::size_t jump(const Gene& gene) {
    std::size_t reach = 1;
    while (reach + 1 < gene.values && random_.chance(kFurther)) ++reach;
    return reach;
  }

  const OptimizerQuery& query_;
  RandomStream random_;
  std::size_t size_;  // of the population
  std::vector<Candidate> known_;
  std::map<Genome, std::size_t> places_;  // in known_
  std::size_t rounds_ = 0;                // of categories looked at
  Losses low_, high_;
};

}  // namespace

std::vector<Candidate> optimize(const OptimizerQuery& query) { return Optimizer(query).run(); }

}  // namespace llmscape::explore
