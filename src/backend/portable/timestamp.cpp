#include <charconv>
#include <chrono>

#include "backend/portable/portable.hpp"

namespace ringshard::portable {

namespace {

bool is_digit(char byte) noexcept { return byte >= '0' && byte <= '9'; }

/// Reads a text from its beginning; what it is asked for and does not find makes it fail.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool take(char byte) noexcept {
    if (text_.empty() || text_.front() != byte) return false;
    text_.remove_prefix(1);
    return true;
  }

  int number(std::size_t digits) noexcept {
    int value = 0;
    if (text_.size() < digits) return fail();
    for (std::size_t i = 0; i < digits; ++i)
      if (!is_digit(text_[i])) return fail();
    std::from_chars(text_.data(), text_.data() + digits, value);
    text_.remove_prefix(digits);
    return value;
  }

  void expect(char byte) noexcept {
    if (!take(byte)) failed_ = true;
  }

  std::string_view digits() noexcept {
    std::size_t count = 0;
    while (count < text_.size() && is_digit(text_[count])) ++count;
    const std::string_view found = text_.substr(0, count);
    text_.remove_prefix(count);
    return found;
  }

  bool at_end() const noexcept { return text_.empty(); }
  bool at_digit() const noexcept { return !text_.empty() && is_digit(text_.front()); }
  bool failed() const noexcept { return failed_; }

 private:
  int fail() noexcept {
    failed_ = true;
    return 0;
  }
  std::string_view text_;
  bool failed_ = false;
};

// "Z", "+02", "-0330", "+05:30"
std::chrono::minutes take_offset(Reader& reader) noexcept {
  if (reader.take('Z') || reader.take('z') || reader.at_end()) return {};
  const bool west = reader.take('-');
  if (!west) reader.expect('+');
  std::chrono::minutes offset = std::chrono::hours(reader.number(2));
  if (reader.take(':') || reader.at_digit()) offset += std::chrono::minutes(reader.number(2));
  return west ? -offset : offset;
}

void append_padded(std::string& out, int number, int width) {
  const std::string digits = std::to_string(number);
  for (int i = static_cast<int>(digits.size()); i < width; ++i) out += '0';
  out += digits;
}

}  // namespace

std::optional<std::string> plain_timestamp(std::string_view text, bool to_utc) {
  using namespace std::chrono;
  Reader reader(text);
  const year in_year{reader.number(4)};
  reader.expect('-');
  const month in_month{static_cast<unsigned>(reader.number(2))};
  reader.expect('-');
  const day on_day{static_cast<unsigned>(reader.number(2))};
  const year_month_day date{in_year, in_month, on_day};
  if (reader.failed() || !date.ok()) return std::nullopt;

  seconds time{};
  std::string_view fraction;
  if (!reader.at_end()) {
    if (!reader.take('T') && !reader.take('t')) reader.expect(' ');
    const int hour = reader.number(2);
    reader.expect(':');
    const int minute = reader.number(2);
    const int second = reader.take(':') ? reader.number(2) : 0;
    if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
    if (reader.take('.')) fraction = reader.digits();
    time = hours(hour) + minutes(minute) + seconds(second);
    if (to_utc) time -= take_offset(reader);
  }
  if (reader.failed() || !reader.at_end()) return std::nullopt;

  const sys_seconds at = sys_days(date) + time;
  const sys_days midnight = floor<days>(at);
  const year_month_day utc(midnight);
  const hh_mm_ss clock(at - midnight);
  std::string plain;
  append_padded(plain, int{utc.year()}, 4);
  plain += '-';
  append_padded(plain, static_cast<int>(unsigned{utc.month()}), 2);
  plain += '-';
  append_padded(plain, static_cast<int>(unsigned{utc.day()}), 2);
  plain += ' ';
  append_padded(plain, static_cast<int>(clock.hours().count()), 2);
  plain += ':';
  append_padded(plain, static_cast<int>(clock.minutes().count()), 2);
  plain += ':';
  append_padded(plain, static_cast<int>(clock.seconds().count()), 2);
  fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  if (!fraction.empty()) (plain += '.') += fraction;
  return plain;
}

}  // namespace ringshard::portable
