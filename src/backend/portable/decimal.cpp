#include <algorithm>
#include <charconv>

#include "backend/portable/portable.hpp"

namespace ringshard::portable {

namespace {

constexpr int digits_max = 20'000;  // more than PostgreSQL keeps behind a decimal point

bool is_digit(char byte) noexcept { return byte >= '0' && byte <= '9'; }

std::string_view take_digits(std::string_view& text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

bool take(std::string_view& text, char byte) noexcept {
  if (text.empty() || text.front() != byte) return false;
  text.remove_prefix(1);
  return true;
}

// "e-12"; false if what is there is none.
bool take_exponent(std::string_view& text, int& exponent) noexcept {
  if (!take(text, 'e') && !take(text, 'E')) return true;
  const bool negative = take(text, '-');
  if (!negative) take(text, '+');
  const std::string_view digits = take_digits(text);
  if (digits.empty() || digits.size() > 6) return false;
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (negative) exponent = -exponent;
  return exponent >= -digits_max && exponent <= digits_max;
}

}  // namespace

std::optional<std::string> plain_decimal(std::string_view text, bool trimmed) {
  const bool negative = take(text, '-');
  if (!negative) take(text, '+');
  std::string digits(take_digits(text));
  std::string_view fraction;
  if (take(text, '.')) fraction = take_digits(text);
  if (digits.empty() && fraction.empty()) return std::nullopt;
  int exponent = 0;
  if (!take_exponent(text, exponent) || !text.empty()) return std::nullopt;

  digits += fraction;
  const int point = static_cast<int>(digits.size() - fraction.size()) + exponent;
  // The point is moved to where the exponent puts it.
  if (point <= 0) digits.insert(0, static_cast<std::size_t>(1 - point), '0');
  if (point > static_cast<int>(digits.size()))
    digits.append(static_cast<std::size_t>(point) - digits.size(), '0');
  const auto whole = static_cast<std::size_t>(std::max(point, 1));
  std::string plain = digits.substr(0, whole);
  plain.erase(0, std::min(plain.find_first_not_of('0'), plain.size() - 1));
  std::string rest = digits.substr(whole);
  if (trimmed) rest.erase(rest.find_last_not_of('0') + 1);
  if (!rest.empty()) plain += "." + rest;
  const bool zero = plain.find_first_not_of("0.") == std::string::npos;
  return negative && !zero ? "-" + plain : plain;
}

}  // namespace ringshard::portable
