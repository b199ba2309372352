#pragma once

#include <map>
#include <ringshard/error.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "config/scalars.hpp"

namespace ringshard::config {

/// Collects every mistake of one file, so that they are reported at once, and every key that was
/// asked for, so that a test can compare them with the JSON Schema.
class Findings {
 public:
  explicit Findings(std::string name) : name_(std::move(name)) {}

  void mistake(int line, const std::string& text) { mistakes_.push_back({line, text}); }
  bool empty() const noexcept { return mistakes_.empty(); }

  /// Throws Error{config} with all mistakes in the order of their lines, if there is one.
  void throw_if_any() const;

  /// Mapping ("", "router", "nodes[]", "move.cutover", …) → its keys.
  std::map<std::string, std::set<std::string>> keys;

 private:
  struct Mistake {
    int line;
    std::string text;
  };
  std::string name_;
  std::vector<Mistake> mistakes_;
};

/// One mapping of the file while it is read. Each read() names a key; finish() reports the keys
/// that nothing asked for. Values that are missing leave the target, and so its default, as it is.
class Section {
 public:
  /// `kind` is the mapping's name in Findings::keys, `label` its name for people.
  Section(Findings& findings, const Node& node, std::string kind, std::string label);

  int line() const noexcept { return node_.line; }
  int line_of(std::string_view key) const;

  /// The value of a key that may be missing, or nullptr.
  const Node* find(std::string_view key);

  /// The same; reports a key that is missing or has no value.
  const Node* require(std::string_view key);

  /// Reads the text of a key with a function that throws ScalarError, or Error, if it does not like
  /// it. False if there is no value, or not a good one.
  template <class Target, class Parse>
  bool read(std::string_view key, Target& target, Parse parse) {
    const Node* node = find(key);
    return node != nullptr && read_node(*node, label_of(key), target, parse);
  }
  template <class Target, class Parse>
  bool read_required(std::string_view key, Target& target, Parse parse) {
    const Node* node = require(key);
    return node != nullptr && read_node(*node, label_of(key), target, parse);
  }

  /// The same for a value that stands somewhere else: an item of a list.
  template <class Target, class Parse>
  bool read_node(const Node& node, const std::string& label, Target& target, Parse parse) {
    std::string text;
    if (!scalar(node, label, text)) return false;
    try {
      target = parse(text);
      return true;
    } catch (const ScalarError& error) {
      refuse(node, label, error.what());
    } catch (const Error& error) {
      refuse(node, label, std::string("is refused: ") + error.what());
    }
    return false;
  }

  /// False, and reported, if the node is of another kind.
  bool expect(const Node& node, Node::Kind kind, const std::string& label);

  std::string label_of(std::string_view key) const;
  void mistake(int line, const std::string& text) { findings_.mistake(line, text); }
  Findings& findings() noexcept { return findings_; }

  /// Reports keys that are unknown or there twice.
  void finish();

 private:
  bool scalar(const Node& node, const std::string& label, std::string& text);
  void refuse(const Node& node, const std::string& label, const std::string& why);

  Findings& findings_;
  const Node& node_;
  std::string kind_;
  std::string label_;
  std::vector<std::string> asked_;
};

}  // namespace ringshard::config
