// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_reader.hpp"

#include "base/files.hpp"
#include "base/number_lists.hpp"
#include "base/utf8.hpp"
#include "base/yaml_syntax.hpp"
#include "base/yaml_text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

namespace llmscape {
namespace {

struct Stop {};  // thrown by TreeBuilder after reporting what makes further reading pointless

struct Size {
  std::size_t nodes = 1;
  int depth = 0;
};

Size size_of(const YamlNode& node) {
  Size out;
  const auto add = [&](const YamlNode& child) {
    const Size inner = size_of(child);
    out.nodes += inner.nodes;
    out.depth = std::max(out.depth, inner.depth + 1);
  };
  for (const YamlNode& item : node.items) add(item);
  for (const auto& entry : node.entries) add(entry.value);
  out.nodes += node.text.size() / 64;  // so that aliases of long texts count for what they hold
  return out;
}

// Builds the tree from the parser's events and refuses what YAML allows and a strict file must not hold.
class TreeBuilder : public YAML::EventHandler {
 public:
  // `lists`: those that the parser is not shown; it finds an empty quoted text in their places.
  TreeBuilder(std::shared_ptr<const SourceText> source, std::span<const NumberList> lists, Diagnostics& diagnostics)
      : source_(std::move(source)), lists_(lists), diagnostics_(diagnostics) {
    const bool marked = source_->text.starts_with(kByteOrderMark);
    for (std::size_t start = marked ? kByteOrderMark.size() : 0; start != std::string::npos;) {
      lines_.push_back(start);
      const auto end = source_->text.find('\n', start);
      start = end == std::string::npos ? end : end + 1;
    }
  }

  YamlNode take_root() { return std::move(root_); }
  // What stands for a text that cannot be read.
  [[nodiscard]] YamlNode invalid_root() const {
    YamlNode invalid;
    invalid.kind = YamlNode::Kind::invalid;
    invalid.where = {source_, source_->first_line, 1, 1};
    return invalid;
  }
  // Whether each of the lists stood where a value can.
  [[nodiscard]] bool found_all_lists() const { return lists_.empty(); }

  [[nodiscard]] SourceRange at(const YAML::Mark& mark, std::size_t length = 1) const {
    if (mark.is_null()) return {source_, 0, 0, 1};
    return {source_, mark.line + source_->first_line, mark.column + 1, static_cast<int>(length)};
  }

  [[nodiscard]] std::string_view line(const YAML::Mark& mark) const {
    if (mark.line < 0 || static_cast<std::size_t>(mark.line) >= lines_.size()) return {};
    return std::string_view(source_->text).substr(lines_[static_cast<std::size_t>(mark.line)]);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    diagnostics_.error(at(mark), "a second document starts here; a file holds one");
    throw Stop{};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    finish_value(new_node(mark, YamlNode::Kind::null), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    YamlNode node = new_node(mark, YamlNode::Kind::invalid);
    if (found == anchors_.end()) {
      diagnostics_.error(node.where, "an alias cannot stand inside what it names");
    } else {
      const Size size = size_of(found->second);
      count(size.nodes, node.where);
      check_depth(size.depth, node.where);
      const SourceRange where = std::exchange(node, found->second).where;
      node.where = where;
    }
    finish_value(std::move(node), 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (tag == "!" && value.empty() && is_list(mark)) {
      finish_value(next_list(mark), anchor);
      return;
    }
    YamlNode node = new_node(mark, YamlNode::Kind::scalar);
    node.text = value;
    node.quoted = tag == "!";
    refuse_tag(node.where, tag);
    refuse_control_characters(node);
    measure(mark, node);
    finish_value(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::mapping);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::map<std::string, int> keys{};       // of a mapping, with their lines
    std::optional<YamlNode::Entry> entry{};  // has its key, waits for its value
    bool dropped = false;                    // the entry was refused
  };

  YamlNode new_node(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.where = at(mark);
    count(1, node.where);
    return node;
  }

  [[nodiscard]] bool is_list(const YAML::Mark& mark) const {
    return !lists_.empty() && !mark.is_null() &&
           line(mark).data() + mark.column == source_->text.data() + lists_.front().begin;
  }

  YamlNode next_list(const YAML::Mark& mark) {
    YamlNode list = new_node(mark, YamlNode::Kind::sequence);
    list.items = numbers_of(source_->text, lists_.front(), list.where);
    check_depth(0, list.where);
    count(list.items.size(), list.where);
    lists_ = lists_.subspan(1);
    return list;
  }

  void count(std::size_t nodes, const SourceRange& where) {
    nodes_ += nodes;
    if (nodes_ <= kMaxYamlNodes) return;
    diagnostics_.error(where, fmt::format("more than {} values in one file", kMaxYamlNodes));
    throw Stop{};
  }

  void check_depth(int below, const SourceRange& where) {
    if (static_cast<int>(open_.size()) + below < kMaxYamlDepth) return;
    diagnostics_.error(where, fmt::format("nested deeper than {} levels", kMaxYamlDepth));
    throw Stop{};
  }

  void refuse_tag(const SourceRange& where, const std::string& tag) {
    if (tag == "!" || tag == "?" || tag.empty()) return;
    diagnostics_.error(where, fmt::format("the tag {} is not read here", in_quotes(tag)), "write the value alone");
  }

  // Those that escapes make: names and texts are printed to terminals and written into tables.
  void refuse_control_characters(const YamlNode& node) {
    const auto is_control = [](unsigned char c) { return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7F; };
    const auto found = std::ranges::find_if(node.text, is_control);
    if (found == node.text.end()) return;
    diagnostics_.error(node.where, fmt::format("the control character 0x{:02x} does not belong in a text",
                                               static_cast<unsigned char>(*found)));
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    YamlNode node = new_node(mark, kind);
    refuse_tag(node.where, tag);
    check_depth(0, node.where);
    open_.push_back({std::move(node), anchor});
  }

  void close() {
    Open top = std::move(open_.back());
    open_.pop_back();
    finish_value(std::move(top.node), top.anchor);
  }

  void finish_value(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) {
      count(size_of(node).nodes, node.where);  // the copy
      anchors_[anchor] = node;
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_sequence()) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.entry) {
      parent.dropped = !acceptable_key(parent.keys, node);
      parent.entry = YamlNode::Entry{std::move(node.text), std::move(node.where), {}};
    } else {
      const bool absent = node.kind == YamlNode::Kind::null && node.where.line != parent.entry->key_where.line;
      if (absent) node.where = parent.entry->key_where;  // rather than wherever the next key stands
      parent.entry->value = std::move(node);
      if (!parent.dropped) parent.node.entries.push_back(std::move(*parent.entry));
      parent.entry.reset();
    }
  }

  bool acceptable_key(std::map<std::string, int>& keys, const YamlNode& key) {
    if (!key.is_scalar()) {
      diagnostics_.error(key.where, "a key must be a word");
      return false;
    }
    if (key.text == "<<" && !key.quoted) {
      diagnostics_.error(key.where, "merge keys '<<' are not read here", "write the keys out, or use an alias");
      return false;
    }
    const auto [first, is_new] = keys.emplace(key.text, key.where.line);
    if (is_new) return true;
    diagnostics_.error(key.where, fmt::format("duplicate key {}", in_quotes(key.text)))
        .notes.push_back(fmt::format("given first at {}:{}", source_->name, first->second));
    return false;
  }

  // Sets how many bytes of its line the scalar takes as it is written (1 for what goes over lines). yaml-cpp takes the
  // end of the file for the end of a quoted text; here it is an error.
  void measure(const YAML::Mark& mark, YamlNode& node) {
    std::string_view rest = line(mark);
    rest.remove_prefix(std::min(rest.size(), static_cast<std::size_t>(mark.column)));
    if (!node.quoted) {
      if (rest.starts_with(node.text)) node.where.length = std::max(1, static_cast<int>(node.text.size()));
      return;
    }
    std::size_t opening = 0;
    while (opening < rest.size() && (rest[opening] == '&' || rest[opening] == '!'))  // anchors may stand before
      opening = std::min(rest.find_first_not_of(" \t\r\n", rest.find_first_of(" \t\r\n", opening)), rest.size());
    const char quote = opening < rest.size() ? rest[opening] : '|';
    if (quote != '"' && quote != '\'') return;  // a block of text
    for (std::size_t i = opening + 1; i < rest.size(); ++i) {
      if (rest[i] == '\\' && quote == '"') {
        ++i;
      } else if (rest.substr(i).starts_with("''") && quote == '\'') {
        ++i;
      } else if (rest[i] == quote) {
        if (rest.substr(0, i).find('\n') == std::string_view::npos) node.where.length = static_cast<int>(i) + 1;
        return;
      }
    }
    diagnostics_.error(node.where, "this quote is never closed");
    throw Stop{};
  }

  std::shared_ptr<const SourceText> source_;
  std::span<const NumberList> lists_;  // those that are still to come
  Diagnostics& diagnostics_;
  std::vector<std::size_t> lines_;  // where each line starts
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  YamlNode root_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

// What to say about a syntax error if tabs may be the reason.
std::string tab_hint(const std::string_view line) {
  const std::size_t tab = line.substr(0, line.find_first_not_of(" \t")).find('\t');
  return tab == std::string_view::npos ? "" : "indent with spaces, not with tabs";
}

YamlNode parse(const std::string& text, TreeBuilder& builder, Diagnostics& diagnostics) {
  std::istringstream in(text);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) continue;
  } catch (const Stop&) {
    return builder.invalid_root();
  } catch (const YAML::Exception& error) {
    diagnostics.error(builder.at(error.mark), std::string(syntax_mistake(error.msg)),
                      tab_hint(builder.line(error.mark)));
    return builder.invalid_root();
  }
  YamlNode root = builder.take_root();
  if (!root.where.source) root.where = builder.invalid_root().where;
  return root;
}

}  // namespace

YamlNode read_yaml(std::shared_ptr<const SourceText> source, Diagnostics& diagnostics) {
  if (!check_text(source, diagnostics)) return TreeBuilder(std::move(source), {}, diagnostics).invalid_root();
  const std::string text = source->name.ends_with(".json") ? spaces_for_tabs(source->text) : source->text;
  if (const std::vector<NumberList> lists = long_number_lists(text); !lists.empty()) {
    Diagnostics unsaid;  // with what stands in for lists nothing is said: whatever is wrong is found again without
    TreeBuilder builder(source, lists, unsaid);
    YamlNode root = parse(without_lists(text, lists), builder, unsaid);
    if (unsaid.size() == 0 && builder.found_all_lists()) return root;
  }
  TreeBuilder builder(std::move(source), {}, diagnostics);
  return parse(text, builder, diagnostics);
}

YamlNode read_yaml_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
  std::string error;
  std::optional<std::string> text = read_file(path, error, kMostDescriptionBytes);
  auto source = std::make_shared<const SourceText>(SourceText{path.string(), text.value_or("")});
  if (text) return read_yaml(std::move(source), diagnostics);
  YamlNode node;
  node.kind = YamlNode::Kind::invalid;
  node.where = {std::move(source), 0, 0, 1};
  diagnostics.error(node.where, error);
  return node;
}

}  // namespace llmscape
