#include "backend/sql_template.hpp"

#include <ringshard/error.hpp>

namespace ringshard {

std::string fill_in(std::string_view text, const Replacements& replacements) {
  std::string filled;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const auto found = replacements.find(name);
    if (close == std::string_view::npos || found == replacements.end())
      throw Error(ErrorCode::internal, "nothing to put in for {" + std::string(name) + "}");
    filled += found->second;
    text.remove_prefix(close + 1);
  }
  return filled;
}

std::string joined(std::size_t count, std::string_view separator,
                   const std::function<std::string(std::size_t)>& part) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += separator;
    text += part(i);
  }
  return text;
}

}  // namespace ringshard
