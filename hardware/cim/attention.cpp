// SPDX-License-Identifier: Apache-2.0
#include "hardware/cim/attention.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {

CimLoad softmax(const LayerShape& layer, const AttentionLoad& work) {
  CimLoad load;
  load.vector = Flops(layer.count * 5.0 * layer.heads * work.pairs);
  load.kv = Bytes(layer.count * (work.keys + work.tokens) * layer.kv_bytes);
  return load;
}

CimLoad vector_attention(const LayerShape& layer, const AttentionLoad& work) {
  CimLoad load = softmax(layer, work);
  load.vector += Flops(layer.count * work.flops);
  return load;
}

CimLoad macro_attention(const Macro& macro, std::int64_t macros, const LayerShape& layer, const models::KvFormat& kv,
                        const AttendingSequences& sequences) {
  const auto rows = static_cast<double>(*macro.rows);
  const auto key_columns = static_cast<double>(weight_columns(macro, kv.keys));
  const auto value_columns = static_cast<double>(weight_columns(macro, kv.values));
  const double heads = static_cast<double>(layer.count) * layer.kv_heads;
  const double partial = sequences.count / 2;
  const double tiles = heads * (std::ceil(layer.key_width / rows) * (sequences.keys / key_columns + partial) +
                                std::ceil(layer.value_width / value_columns) * (sequences.keys / rows + partial));
  // Queries of one KV head that pass a tile of so many keys: of those that see one of them.
  const auto queries = [&](double keys) {
    const double tokens = sequences.tokens_per_sequence;
    return (sequences.window > 0 ? std::min(tokens, sequences.window + keys - 1) : tokens) * layer.heads /
           layer.kv_heads;
  };
  CimLoad load;
  load.write_rounds = std::ceil(tiles / static_cast<double>(macros));
  load.vector_passes = load.write_rounds * std::max(queries(key_columns), queries(rows));
  load.written = Bytes(layer.count * sequences.keys * layer.kv_bytes);
  load.multiply(heads * sequences.keys * queries(key_columns) * layer.key_width, kv.keys, macro);
  load.multiply(heads * sequences.keys * queries(rows) * layer.value_width, kv.values, macro);
  return load;
}

}  // namespace llmscape::hardware
