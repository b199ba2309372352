#include <algorithm>
#include <cctype>
#include <ringshard/config.hpp>
#include <string>
#include <string_view>

namespace ringshard {
namespace {

constexpr std::string_view hidden = "***";

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

bool is_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Half-open.
struct Span {
  std::size_t begin;
  std::size_t end;
};

// The run of characters without white space around a position: a URL, and perhaps more than that.
Span token_around(std::string_view text, std::size_t position) {
  Span token{position, position};
  while (token.begin > 0 && !is_space(text[token.begin - 1])) --token.begin;
  while (token.end < text.size() && !is_space(text[token.end])) ++token.end;
  return token;
}

// scheme://user:password@host. The password ends at the last @: one that was not percent-encoded
// may hold an @, a / or a quote itself, and hiding too much is harmless.
void redact_urls(std::string& text) {
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    const std::size_t user = at + 3;
    const std::size_t host = text.rfind('@', token_around(text, at).end - 1);
    if (host == std::string::npos || host < user) continue;
    const std::size_t colon = text.find(':', user);
    if (colon < host) text.replace(colon + 1, host - colon - 1, hidden);
  }
}

bool names_a_password(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view name : {"password", "passwd", "pwd"}) {
    if (lower.size() >= name.size() &&
        lower.compare(lower.size() - name.size(), name.size(), name) == 0) {
      return true;
    }
  }
  return false;
}

// Where a value that starts here ends: in quotes, as part of a URL's query, or up to a space.
std::size_t value_end(std::string_view text, std::size_t begin, bool in_url) {
  const bool quoted = begin < text.size() && text[begin] == '\'';
  for (std::size_t i = quoted ? begin + 1 : begin; i < text.size(); ++i) {
    if (!in_url && text[i] == '\\') {
      ++i;
    } else if (quoted) {
      if (text[i] == '\'') return i + 1;
    } else if (is_space(text[i]) || (in_url && text[i] == '&')) {
      return i;
    }
  }
  return text.size();
}

// password=secret, password = 'a secret', ?password=secret&…
void redact_parameters(std::string& text) {
  for (std::size_t equals = text.find('='); equals != std::string::npos;
       equals = text.find('=', equals + 1)) {
    std::size_t word_end = equals;
    while (word_end > 0 && is_space(text[word_end - 1])) --word_end;
    std::size_t word = word_end;
    while (word > 0 && is_word(text[word - 1])) --word;
    if (!names_a_password(std::string_view(text).substr(word, word_end - word))) continue;

    const Span token = token_around(text, equals);
    const bool in_url =
        text.substr(token.begin, equals - token.begin).find("://") != std::string::npos;
    std::size_t value = equals + 1;
    while (!in_url && value < text.size() && is_space(text[value])) ++value;
    text.replace(value, value_end(text, value, in_url) - value, hidden);
  }
}

}  // namespace

std::string redact(std::string_view text) {
  std::string result(text);
  redact_urls(result);
  redact_parameters(result);
  return result;
}

}  // namespace ringshard
