#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ringshard::config {

struct Entry;

/// A piece of a YAML file with the line that it starts in. A plain tree, so that the YAML library
/// stays in one file.
struct Node {
  enum class Kind { null, scalar, list, mapping };

  Kind kind = Kind::null;
  int line = 1;
  std::string text;            ///< of a scalar
  std::vector<Node> items;     ///< of a list
  std::vector<Entry> entries;  ///< of a mapping, in the order of the file; a key may be there twice
};

struct Entry {
  std::string key;
  int line = 1;
  Node value;
};

/// The text is not YAML, or not one that can be a configuration.
class DocumentError : public std::runtime_error {
 public:
  DocumentError(int line, const std::string& message) : std::runtime_error(message), line_(line) {}
  int line() const noexcept { return line_; }

 private:
  int line_;
};

/// Reads one YAML document. Throws DocumentError.
Node parse_document(std::string_view text);

}  // namespace ringshard::config
