#include "backend/postgres/sql_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace ringshard::postgres {

namespace {

bool is_space(char byte) noexcept {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f' ||
         byte == '\v';
}

bool is_word(char byte) noexcept {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || (static_cast<unsigned char>(byte) & 0x80U);
}

// Where what begins at `at` ends. A quote that is never closed goes to the end of the text.

std::size_t end_of_quoted(std::string_view text, std::size_t at, bool backslashes) noexcept {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (backslashes && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (at + 1 == text.size() || text[at + 1] != quote) return at + 1;
      ++at;
    }
  }
  return text.size();
}

std::size_t end_of_comment(std::string_view text, std::size_t at) noexcept {
  if (text[at] == '-') return std::min(text.find('\n', at), text.size());
  int depth = 0;
  for (; at + 1 < text.size(); ++at) {
    if (text[at] == '/' && text[at + 1] == '*') {
      ++depth;
      ++at;
    } else if (text[at] == '*' && text[at + 1] == '/') {
      ++at;
      if (--depth == 0) return at + 1;
    }
  }
  return text.size();
}

// $tag$ … $tag$, or only the dollar if it begins no quote.
std::size_t end_of_dollar_quoted(std::string_view text, std::size_t at) noexcept {
  std::size_t end = at + 1;
  while (end < text.size() && is_word(text[end])) ++end;
  const bool number = end > at + 1 && text[at + 1] >= '0' && text[at + 1] <= '9';
  if (end == text.size() || text[end] != '$' || number) return at + 1;
  const std::string_view tag = text.substr(at, end + 1 - at);
  const std::size_t close = text.find(tag, end + 1);
  return close == std::string_view::npos ? text.size() : close + tag.size();
}

bool begins_comment(std::string_view text, std::size_t at) noexcept {
  const std::string_view two = text.substr(at, 2);
  return two == "--" || two == "/*";
}

std::size_t skip_space(std::string_view text, std::size_t at) noexcept {
  while (at < text.size()) {
    if (is_space(text[at]))
      ++at;
    else if (begins_comment(text, at))
      at = end_of_comment(text, at);
    else
      break;
  }
  return at;
}

// The word at `at` in lower case; `at` moves to what follows it.
std::string take_word(std::string_view text, std::size_t& at) {
  at = skip_space(text, at);
  std::string word;
  for (; at < text.size() && is_word(text[at]); ++at)
    word += static_cast<char>(text[at] >= 'A' && text[at] <= 'Z' ? text[at] + 32 : text[at]);
  return word;
}

}  // namespace

FirstStatement first_statement(std::string_view script) noexcept {
  // Statements that hold nothing are passed over.
  std::size_t begin = skip_space(script, 0);
  while (begin < script.size() && script[begin] == ';') begin = skip_space(script, begin + 1);
  std::size_t at = begin;
  while (at < script.size() && script[at] != ';') {
    const char byte = script[at];
    if (byte == '\'') {
      const bool escapes = at > begin && (script[at - 1] == 'e' || script[at - 1] == 'E') &&
                           (at - 1 == begin || !is_word(script[at - 2]));
      at = end_of_quoted(script, at, escapes);
    } else if (byte == '"') {
      at = end_of_quoted(script, at, false);
    } else if (begins_comment(script, at)) {
      at = end_of_comment(script, at);
    } else if (byte == '$' && (at == begin || !is_word(script[at - 1]))) {
      at = end_of_dollar_quoted(script, at);
    } else {
      ++at;
    }
  }
  const std::string_view rest = at < script.size() ? script.substr(at + 1) : std::string_view();
  return {script.substr(begin, at - begin), rest};
}

bool controls_transaction(std::string_view statement) noexcept {
  static constexpr std::array words{"begin", "start", "commit", "end", "abort"};
  std::size_t at = 0;
  const std::string first = take_word(statement, at);
  if (std::find(words.begin(), words.end(), first) != words.end()) return true;
  if (first != "rollback" && first != "prepare") return false;
  std::string second = take_word(statement, at);
  if (first == "prepare") return second == "transaction";
  if (second == "work" || second == "transaction") second = take_word(statement, at);
  return second != "to";
}

}  // namespace ringshard::postgres
