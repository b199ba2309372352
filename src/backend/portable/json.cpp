#include <algorithm>
#include <nlohmann/json.hpp>

#include "backend/portable/portable.hpp"

namespace ringshard::portable {

namespace {

// As PostgreSQL's escape_json() does.
void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (const char byte : text) {
    switch (byte) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(byte) < 0x20) {
          out += "\\u00";
          out += digits[static_cast<unsigned char>(byte) >> 4U];
          out += digits[static_cast<unsigned char>(byte) & 15U];
        } else {
          out += byte;
        }
    }
  }
  out += '"';
}

/// Makes the text of each value when its end is reached, so that members can be put in order.
class Writer {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  bool null() { return add("null"); }
  bool boolean(bool value) { return add(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) { return add(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) { return add(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) {
    auto plain = plain_decimal(text, false);
    return plain && add(std::move(*plain));
  }
  bool string(string_t& text) {
    std::string quoted;
    append_quoted(quoted, text);
    return add(std::move(quoted));
  }
  bool binary(binary_t&) { return false; }
  bool start_object(std::size_t) { return start(); }
  bool start_array(std::size_t) { return start(); }
  bool key(string_t& name) {
    open_.back().name = name;
    return true;
  }
  bool end_array() {
    std::string text = "[";
    for (const Member& member : open_.back().members)
      text += (text.size() > 1 ? ", " : "") + member.text;
    return end(text + "]");
  }
  bool end_object() {
    // Shorter names first; of equal ones the last counts.
    std::vector<Member>& members = open_.back().members;
    std::stable_sort(members.begin(), members.end(), [](const Member& left, const Member& right) {
      return left.name.size() != right.name.size() ? left.name.size() < right.name.size()
                                                   : left.name < right.name;
    });
    std::string text = "{";
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i + 1 < members.size() && members[i + 1].name == members[i].name) continue;
      if (text.size() > 1) text += ", ";
      append_quoted(text, members[i].name);
      text += ": " + members[i].text;
    }
    return end(text + "}");
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
    return false;
  }

  std::string& text() { return text_; }

 private:
  struct Member {
    std::string name;
    std::string text;
  };
  struct Container {
    std::string name;  // of the member whose value comes next
    std::vector<Member> members;
  };

  bool start() {
    open_.emplace_back();
    return true;
  }
  bool end(std::string text) {
    open_.pop_back();
    return add(std::move(text));
  }
  bool add(std::string text) {
    if (open_.empty())
      text_ = std::move(text);
    else
      open_.back().members.push_back({open_.back().name, std::move(text)});
    return true;
  }

  std::vector<Container> open_;
  std::string text_;
};

}  // namespace

std::optional<std::string> plain_json(std::string_view text) {
  Writer writer;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &writer)) return std::nullopt;
  return std::move(writer.text());
}

}  // namespace ringshard::portable
