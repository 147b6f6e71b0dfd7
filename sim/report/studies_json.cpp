// SPDX-License-Identifier: Apache-2.0
#include "sim/report/studies_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace llmscape::report {
namespace {

using studies::ClaimKind;
using studies::StudyOutcome;
using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
const char* verdict(bool holds) { return holds ? "holds" : "misses"; }

Json error(const studies::Claim& claim, const studies::ClaimOutcome& outcome) {
  if (!outcome.simulated) return nullptr;
  if (claim.published) return *outcome.simulated - *claim.published;
  if (!claim.range) return nullptr;
  return *outcome.simulated - std::clamp(*outcome.simulated, claim.range->first, claim.range->second);
}

Json json_of(const studies::Claim& claim, const studies::ClaimOutcome& outcome) {
  Json json = {{"id", claim.id}, {"what", claim.what}, {"kind", name_of(claim.kind)}};
  json["evidence"] = name_of(claim.evidence);
  json["published"] = claim.range ? Json{claim.range->first, claim.range->second} : number(claim.published);
  if (!claim.tolerance.text.empty())
    json["tolerance"] = {{"amount", claim.tolerance.amount}, {"relative", claim.tolerance.relative}};
  json["simulated"] = number(outcome.share ? outcome.share : outcome.simulated);
  json["low"] = number(outcome.low);
  json["high"] = number(outcome.high);
  if (outcome.share && outcome.simulated) json["value"] = *outcome.simulated;
  json["seeds"] = outcome.seeds;
  json["error"] = error(claim, outcome);
  json["verdict"] = name_of(outcome.verdict);
  if (outcome.catalogue)
    json["catalogue"] = {{"simulated", *outcome.catalogue}, {"verdict", name_of(outcome.catalogue_verdict)}};
  if (!claim.source.empty()) json["source"] = claim.source;
  if (!claim.miss.empty()) json["miss"] = claim.miss;
  return json;
}

Json json_of(const studies::DrawnFigure& figure) {
  Json json = {{"title", figure.title}, {"x", figure.x}, {"y", figure.y}, {"labels", figure.labels}};
  json["series"] = Json::array();
  for (const studies::DrawnSeries& series : figure.series) {
    Json values = Json::array();
    for (const auto& value : series.values) values.push_back(number(value));
    json["series"].push_back({{"name", series.name}, {"values", std::move(values)}});
  }
  return json;
}

Json json_of(const StudyOutcome& outcome) {
  const studies::Study& study = *outcome.study;
  Json json = {{"name", study.name}, {"title", study.title}, {"summary", study.summary}};
  json["as_declared"] = outcome.as_declared();
  json["all_hold"] = outcome.all_hold();
  json["claims"] = json["negative"] = json["same"] = Json::array();
  for (std::size_t i = 0; i < study.claims.size(); ++i)
    json["claims"].push_back(json_of(study.claims[i], outcome.claims[i]));
  for (std::size_t i = 0; i < study.negative.size(); ++i)
    json["negative"].push_back({{"id", study.negative[i].id},
                                {"what", study.negative[i].what},
                                {"simulated", outcome.negative[i].share},
                                {"seeds", outcome.negative[i].seeds},
                                {"verdict", verdict(outcome.negative[i].holds)}});
  for (std::size_t i = 0; i < study.same.size(); ++i)
    json["same"].push_back({{"runs", {study.runs[study.same[i].first].name, study.runs[study.same[i].second].name}},
                            {"verdict", verdict(outcome.same[i])}});
  if (outcome.figure) json["figure"] = json_of(*outcome.figure);
  json["problems"] = outcome.problems;
  return json;
}

}  // namespace

std::string studies_json(const std::vector<StudyOutcome>& outcomes) {
  Json json = {{"schema", "studies/1"}, {"studies", Json::array()}, {"summary", Json::object()}};
  for (const StudyOutcome& outcome : outcomes) json["studies"].push_back(json_of(outcome));
  for (const bool published : {true, false})
    for (const ClaimKind kind : studies::kClaimKinds) {
      studies::Count all;
      for (const StudyOutcome& outcome : outcomes) all += outcome.count(kind, published);
      json["summary"][published ? "published" : "other"][std::string(name_of(kind))] = {
          {"held", all.held}, {"held_with_catalogue", all.held_with_catalogue}, {"counted", all.counted}};
    }
  return json.dump(2) + '\n';
}

}  // namespace llmscape::report
