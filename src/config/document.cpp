#include "config/document.hpp"

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <utility>

namespace ringshard::config {
namespace {

// An alias may stand inside of what it names, and aliases of aliases multiply.
constexpr int depth_max = 32;
constexpr std::size_t nodes_max = 1'000'000;

int line_of(const YAML::Mark& mark) { return mark.line < 0 ? 1 : mark.line + 1; }

class Converter {
 public:
  Node convert(const YAML::Node& source, int depth) {
    Node node;
    node.line = line_of(source.Mark());
    if (depth > depth_max) throw DocumentError(node.line, "nested too deeply");
    if (++count_ > nodes_max) throw DocumentError(node.line, "too large");
    switch (source.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        node.kind = Node::Kind::null;
        break;
      case YAML::NodeType::Scalar:
        node.kind = Node::Kind::scalar;
        node.text = source.Scalar();
        break;
      case YAML::NodeType::Sequence:
        node.kind = Node::Kind::list;
        for (const auto& item : source) node.items.push_back(convert(item, depth + 1));
        break;
      case YAML::NodeType::Map:
        node.kind = Node::Kind::mapping;
        for (const auto& entry : source) node.entries.push_back(convert_entry(entry, depth));
        break;
    }
    return node;
  }

 private:
  template <class SourceEntry>
  Entry convert_entry(const SourceEntry& source, int depth) {
    const int line = line_of(source.first.Mark());
    if (!source.first.IsScalar()) throw DocumentError(line, "a key must be a plain word");
    Entry entry{source.first.Scalar(), line, convert(source.second, depth + 1)};
    // What is not there has no place of its own.
    if (entry.value.kind == Node::Kind::null) entry.value.line = line;
    return entry;
  }

  std::size_t count_ = 0;
};

}  // namespace

Node parse_document(std::string_view text) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty()) return {};
    if (documents.size() > 1) {
      throw DocumentError(line_of(documents[1].Mark()), "a second YAML document begins here");
    }
    return Converter().convert(documents.front(), 0);
  } catch (const YAML::Exception& error) {
    throw DocumentError(line_of(error.mark), "not valid YAML: " + error.msg);
  }
}

}  // namespace ringshard::config
