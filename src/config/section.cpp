#include "config/section.hpp"

#include <algorithm>
#include <ringshard/config.hpp>
#include <utility>

namespace ringshard::config {

void Findings::throw_if_any() const {
  if (mistakes_.empty()) return;
  std::vector<Mistake> sorted = mistakes_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Mistake& left, const Mistake& right) {
    return left.line < right.line;
  });
  std::string text;
  for (const Mistake& mistake : sorted) {
    if (!text.empty()) text += '\n';
    text += name_ + ":" + std::to_string(mistake.line) + ": " + mistake.text;
  }
  throw Error(ErrorCode::config, text);
}

Section::Section(Findings& findings, const Node& node, std::string kind, std::string label)
    : findings_(findings), node_(node), kind_(std::move(kind)), label_(std::move(label)) {
  findings_.keys[kind_];
}

int Section::line_of(std::string_view key) const {
  for (const Entry& entry : node_.entries) {
    if (entry.key == key) return entry.line;
  }
  return node_.line;
}

const Node* Section::find(std::string_view key) {
  asked_.emplace_back(key);
  findings_.keys[kind_].emplace(key);
  for (const Entry& entry : node_.entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

const Node* Section::require(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) mistake(node_.line, label_of(key) + " is missing");
  return node;
}

std::string Section::label_of(std::string_view key) const {
  return label_.empty() ? std::string(key) : label_ + "." + std::string(key);
}

bool Section::expect(const Node& node, Node::Kind kind, const std::string& label) {
  if (node.kind == kind) return true;
  if (node.kind == Node::Kind::null) {
    mistake(node.line, label + " has no value");
  } else if (kind == Node::Kind::scalar) {
    mistake(node.line, label + " must be a single value");
  } else {
    mistake(node.line,
            label + (kind == Node::Kind::list ? " must be a list" : " must have keys of its own"));
  }
  return false;
}

bool Section::scalar(const Node& node, const std::string& label, std::string& text) {
  if (!expect(node, Node::Kind::scalar, label)) return false;
  try {
    text = expand_environment(node.text);
    return true;
  } catch (const ScalarError& error) {
    refuse(node, label, error.what());
    return false;
  }
}

// Quotes what is written in the file, not what variables made of it: those may be secrets.
void Section::refuse(const Node& node, const std::string& label, const std::string& why) {
  mistake(node.line, label + " \"" + redact(node.text) + "\" " + why);
}

void Section::finish() {
  std::set<std::string> seen;
  for (const Entry& entry : node_.entries) {
    if (std::find(asked_.begin(), asked_.end(), entry.key) == asked_.end()) {
      mistake(entry.line,
              "unknown key \"" + label_of(entry.key) + "\"" + suggestion(entry.key, asked_));
    } else if (!seen.insert(entry.key).second) {
      mistake(entry.line, label_of(entry.key) + " is there twice");
    }
  }
}

}  // namespace ringshard::config
