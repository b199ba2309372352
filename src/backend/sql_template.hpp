#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace ringshard {

// SQL of schemas/ with names to be filled in, and parts of such SQL.

using Replacements = std::map<std::string, std::string, std::less<>>;

/// Puts in what stands for each {name}, in one pass: what was put in may hold braces of its own.
/// Error{internal} for a name that is not among the replacements.
std::string fill_in(std::string_view text, const Replacements& replacements);

/// The parts, made from 0 … count - 1, with `separator` between them.
std::string joined(std::size_t count, std::string_view separator,
                   const std::function<std::string(std::size_t)>& part);

}  // namespace ringshard
