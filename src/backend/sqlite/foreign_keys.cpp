#include "backend/sqlite/foreign_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ringshard/error.hpp>
#include <vector>

namespace ringshard::sqlite {

namespace {

enum class TokenKind { word, quoted, open, close, comma, other };

struct Token {
  TokenKind kind;
  std::size_t begin;
  std::size_t end;
  int depth;  // parentheses around it
};

[[noreturn]] void refuse(std::string_view sql, const std::string& reason) {
  throw Error(ErrorCode::schema, "this CREATE TABLE statement can not be read, " + reason + ": " +
                                     std::string(sql.substr(0, 200)));
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool is_word_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || byte == '$' || byte >= 0x80;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_names(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view sql) : sql_(sql) {}

  std::vector<Token> run() {
    while (true) {
      skip_space();
      if (at_ == sql_.size()) return std::move(tokens_);
      take();
    }
  }

 private:
  void skip_space() {
    while (at_ < sql_.size()) {
      if (is_space(sql_[at_])) {
        ++at_;
      } else if (sql_.substr(at_, 2) == "--") {
        at_ = std::min(sql_.find('\n', at_), sql_.size());
      } else if (sql_.substr(at_, 2) == "/*") {
        // SQLite takes a comment that nobody ended as one that ends with the text.
        const std::size_t end = sql_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? sql_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  void take() {
    const char c = sql_[at_];
    if (is_word_character(c)) {
      std::size_t end = at_;
      while (end < sql_.size() && is_word_character(sql_[end])) ++end;
      return push(TokenKind::word, end);
    }
    switch (c) {
      case '"':
      case '`':
      case '\'':
        return push(TokenKind::quoted, end_of_quoted(c));
      case '[':
        return push(TokenKind::quoted, end_of_bracket());
      case '(':
        push(TokenKind::open, at_ + 1);
        ++depth_;
        return;
      case ')':
        --depth_;
        return push(TokenKind::close, at_ + 1);
      case ',':
        return push(TokenKind::comma, at_ + 1);
      default:
        return push(TokenKind::other, at_ + 1);
    }
  }

  // A doubled quote inside stands for one.
  std::size_t end_of_quoted(char quote) const {
    std::size_t end = at_ + 1;
    while (true) {
      end = sql_.find(quote, end);
      if (end == std::string_view::npos) refuse(sql_, "a quote is not closed");
      if (end + 1 >= sql_.size() || sql_[end + 1] != quote) return end + 1;
      end += 2;
    }
  }

  std::size_t end_of_bracket() const {
    const std::size_t end = sql_.find(']', at_);
    if (end == std::string_view::npos) refuse(sql_, "a [ is not closed");
    return end + 1;
  }

  void push(TokenKind kind, std::size_t end) {
    tokens_.push_back({kind, at_, end, depth_});
    at_ = end;
  }

  std::string_view sql_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Token> tokens_;
};

class Rewriter {
 public:
  Rewriter(std::string_view sql, const std::set<std::string>& parents)
      : sql_(sql), parents_(parents), tokens_(Tokenizer(sql).run()), gone_(tokens_.size(), false) {}

  std::string run() {
    find_body();
    // REFERENCES is a reserved word: unquoted and outside of inner parentheses it is a foreign key
    // and nothing else.
    for (std::size_t i = body_begin_; i < body_end_; ++i)
      if (tokens_[i].depth == 1 && is_word(i, "REFERENCES")) remove_if_meant(i);
    remove_commas();
    return text();
  }

 private:
  bool is_word(std::size_t index, std::string_view word) const {
    return index < tokens_.size() && tokens_[index].kind == TokenKind::word &&
           equal_names(text_of(index), word);
  }

  std::string_view text_of(std::size_t index) const {
    return sql_.substr(tokens_[index].begin, tokens_[index].end - tokens_[index].begin);
  }

  std::string name_of(std::size_t index) const {
    const std::string_view text = text_of(index);
    if (tokens_[index].kind == TokenKind::word) return std::string(text);
    if (tokens_[index].kind != TokenKind::quoted) refuse(sql_, "REFERENCES names no table");
    std::string name;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
      name.push_back(text[i]);
      if (text[0] != '[' && text[i] == text[0]) ++i;
    }
    return name;
  }

  void find_body() {
    if (!is_word(0, "CREATE")) refuse(sql_, "it does not begin with CREATE");
    const auto open = std::find_if(tokens_.begin(), tokens_.end(), [](const Token& token) {
      return token.kind == TokenKind::open;
    });
    const auto close = std::find_if(open, tokens_.end(), [](const Token& token) {
      return token.kind == TokenKind::close && token.depth == 0;
    });
    if (close == tokens_.end()) refuse(sql_, "its columns do not end");
    body_begin_ = static_cast<std::size_t>(open - tokens_.begin()) + 1;
    body_end_ = static_cast<std::size_t>(close - tokens_.begin());
  }

  void remove_if_meant(std::size_t references) {
    if (references + 1 >= body_end_) refuse(sql_, "REFERENCES names no table");
    const std::string parent = name_of(references + 1);
    const bool meant = std::any_of(parents_.begin(), parents_.end(), [&](const std::string& name) {
      return equal_names(name, parent);
    });
    if (!meant) return;
    const std::size_t begin = begin_of(references);
    const std::size_t end = end_of(references + 2);
    for (std::size_t i = begin; i < end; ++i) gone_[i] = true;
  }

  // FOREIGN KEY (columns) before REFERENCES makes it the table's; names of the constraint go with
  // it.
  std::size_t begin_of(std::size_t references) const {
    std::size_t begin = references;
    if (tokens_[begin - 1].kind == TokenKind::close) {
      std::size_t open = begin - 1;
      while (open > body_begin_ &&
             !(tokens_[open].kind == TokenKind::open && tokens_[open].depth == 1))
        --open;
      if (open >= body_begin_ + 2 && is_word(open - 1, "KEY") && is_word(open - 2, "FOREIGN"))
        begin = open - 2;
    }
    while (begin >= body_begin_ + 2 && is_word(begin - 2, "CONSTRAINT")) begin -= 2;
    return begin;
  }

  std::size_t end_of(std::size_t at) const {
    if (at < body_end_ && tokens_[at].kind == TokenKind::open) {
      while (!(tokens_[at].kind == TokenKind::close && tokens_[at].depth == 1)) ++at;
      ++at;
    }
    while (const std::size_t length = length_of_clause(at)) at += length;
    return at;
  }

  // How many tokens at `at` still belong to the foreign key: ON DELETE …, MATCH …, DEFERRABLE ….
  std::size_t length_of_clause(std::size_t at) const {
    if (is_word(at, "ON") &&
        (is_word(at + 1, "DELETE") || is_word(at + 1, "UPDATE") || is_word(at + 1, "INSERT")))
      return is_word(at + 2, "SET") || is_word(at + 2, "NO") ? 4 : 3;
    if (is_word(at, "MATCH")) return 2;
    const std::size_t negation = is_word(at, "NOT") ? 1 : 0;
    if (!is_word(at + negation, "DEFERRABLE")) return 0;
    return negation + (is_word(at + negation + 1, "INITIALLY") ? 3 : 1);
  }

  // Of a definition that is gone altogether the comma before it goes too; a column always comes
  // first.
  void remove_commas() {
    std::optional<std::size_t> comma;
    bool empty = true;
    for (std::size_t i = body_begin_; i <= body_end_; ++i) {
      const bool ends =
          i == body_end_ || (tokens_[i].kind == TokenKind::comma && tokens_[i].depth == 1);
      if (!ends) {
        empty = empty && gone_[i];
        continue;
      }
      if (empty && comma) gone_[*comma] = true;
      comma = i;
      empty = true;
    }
  }

  std::string text() const {
    std::string out;
    std::size_t kept = 0;  // everything before it has been dealt with
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!gone_[i]) continue;
      std::size_t last = i;
      while (last + 1 < tokens_.size() && gone_[last + 1]) ++last;
      out += sql_.substr(kept, tokens_[i].begin - kept);
      // Whatever stood between two words keeps them apart.
      const std::size_t next = tokens_[last].end;
      if (!out.empty() && !is_space(out.back()) && next < sql_.size() &&
          is_word_character(sql_[next]))
        out.push_back(' ');
      kept = next;
      i = last;
    }
    out += sql_.substr(kept);
    return out;
  }

  std::string_view sql_;
  const std::set<std::string>& parents_;
  std::vector<Token> tokens_;
  std::vector<bool> gone_;
  std::size_t body_begin_ = 0;
  std::size_t body_end_ = 0;
};

}  // namespace

std::string without_foreign_keys(std::string_view create_table,
                                 const std::set<std::string>& parents) {
  return Rewriter(create_table, parents).run();
}

}  // namespace ringshard::sqlite
