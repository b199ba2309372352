#pragma once

#include <cstddef>
#include <ringshard/error.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ringshard::setup {

/// Everything that is wrong, to be said at once.
class Problems {
 public:
  void add(std::string problem) { problems_.push_back(std::move(problem)); }
  bool empty() const noexcept { return problems_.empty(); }
  std::size_t size() const noexcept { return problems_.size(); }

  /// Throws Error{schema}: the headline, and a line for each problem.
  void throw_if_any(const std::string& headline) const {
    if (problems_.empty()) return;
    std::string text = headline;
    for (const std::string& problem : problems_) text += "\n  - " + problem;
    throw Error(ErrorCode::schema, text);
  }

 private:
  std::vector<std::string> problems_;
};

}  // namespace ringshard::setup
