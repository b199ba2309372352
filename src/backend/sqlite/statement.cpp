#include "backend/sqlite/statement.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>

namespace ringshard::sqlite {

namespace {

bool is_space(char byte) noexcept {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
}

std::string_view skip_space_and_comments(std::string_view sql) noexcept {
  while (!sql.empty()) {
    if (is_space(sql.front()) || sql.front() == ';') {
      sql.remove_prefix(1);
    } else if (sql.substr(0, 2) == "--") {
      const std::size_t end = sql.find('\n');
      sql = end == std::string_view::npos ? std::string_view() : sql.substr(end + 1);
    } else if (sql.substr(0, 2) == "/*") {
      const std::size_t end = sql.find("*/", 2);
      sql = end == std::string_view::npos ? std::string_view() : sql.substr(end + 2);
    } else {
      break;
    }
  }
  return sql;
}

// The next word in upper case, taken off the front of `sql`; empty if there is no word.
std::string next_word(std::string_view& sql) {
  sql = skip_space_and_comments(sql);
  std::string word;
  while (!sql.empty()) {
    const char byte = sql.front();
    const char upper = byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
    if (upper < 'A' || upper > 'Z') break;
    word += upper;
    sql.remove_prefix(1);
  }
  return word;
}

// Names are case-insensitive, and no way to write one leaves this out.
bool speaks_of_record(std::string_view sql) noexcept {
  static constexpr std::string_view name = "ringshard_home";
  const auto same = [](char left, char right) {
    return (left >= 'A' && left <= 'Z' ? static_cast<char>(left - 'A' + 'a') : left) == right;
  };
  return std::search(sql.begin(), sql.end(), name.begin(), name.end(), same) != sql.end();
}

int text_size(std::string_view sql) {
  if (sql.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(ErrorCode::invalid_argument, "a statement of more than 2 GB");
  return static_cast<int>(sql.size());
}

// The number in "$12" or "?12"; -1 for any other name.
int number_in(std::string_view name) noexcept {
  int number = -1;
  if (name.size() < 2 || (name.front() != '$' && name.front() != '?')) return -1;
  const auto result = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const bool whole = result.ec == std::errc() && result.ptr == name.data() + name.size();
  return whole && number >= 1 ? number : -1;
}

// A null pointer would make NULL of an empty text or blob.
const char* never_null(std::string_view bytes) noexcept {
  return bytes.data() == nullptr ? "" : bytes.data();
}

int bind_value(sqlite3_stmt* statement, int position, const ValueView& value) {
  switch (value.index()) {
    case 0:
      return sqlite3_bind_null(statement, position);
    case 1:
      return sqlite3_bind_int64(statement, position, *std::get_if<std::int64_t>(&value));
    case 2:
      return sqlite3_bind_double(statement, position, *std::get_if<double>(&value));
    case 3: {
      const std::string_view text = *std::get_if<std::string_view>(&value);
      return sqlite3_bind_text64(statement, position, never_null(text), text.size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
    }
    default: {
      const std::string_view bytes = std::get_if<BlobView>(&value)->bytes;
      return sqlite3_bind_blob64(statement, position, never_null(bytes), bytes.size(),
                                 SQLITE_STATIC);
    }
  }
}

}  // namespace

void FinalizeStatement::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

ValueView column_value(sqlite3_stmt* statement, int column) {
  // One access to the column instead of three. The value is what SQLite calls unprotected, which
  // makes a difference only where threads share a connection.
  sqlite3_value* value = sqlite3_column_value(statement, column);
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_value_int64(value)};
    case SQLITE_FLOAT:
      return sqlite3_value_double(value);
    case SQLITE_TEXT: {
      // The text first, its length after that: the order that SQLite's manual asks for.
      const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
      return text == nullptr ? std::string_view("") : std::string_view(text, size);
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
      const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
      return BlobView{bytes == nullptr ? std::string_view("") : std::string_view(bytes, size)};
    }
    default:
      return Null{};
  }
}

bool controls_transaction(std::string_view sql) noexcept {
  const std::string first = next_word(sql);
  if (first == "ROLLBACK") {
    std::string second = next_word(sql);
    if (second == "TRANSACTION") second = next_word(sql);
    return second != "TO";
  }
  static constexpr std::array<std::string_view, 5> words{"BEGIN", "COMMIT", "END", "ATTACH",
                                                         "DETACH"};
  return std::find(words.begin(), words.end(), first) != words.end();
}

NextStatement prepare_next(sqlite3* database, std::string_view script, const Place& place) {
  sqlite3_stmt* handle = nullptr;
  const char* tail = nullptr;
  if (script.data() == nullptr) return {};
  const int code =
      sqlite3_prepare_v3(database, script.data(), text_size(script), 0, &handle, &tail);
  if (code != SQLITE_OK) throw translate(code, database, place, Phase::statement, script);
  const auto used = static_cast<std::size_t>(tail - script.data());
  return {StatementHandle(handle), script.substr(0, used), script.substr(used)};
}

Statement::Statement(sqlite3* database, std::string_view sql, const Place& place) : sql_(sql) {
  sqlite3_stmt* handle = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v3(database, sql_.data(), text_size(sql_),
                                      SQLITE_PREPARE_PERSISTENT, &handle, &tail);
  handle_.reset(handle);
  if (code != SQLITE_OK) throw translate(code, database, place, Phase::statement, sql_);
  if (handle == nullptr)
    throw Error(ErrorCode::invalid_argument, "an empty statement was given to " + place.str());
  const auto used = static_cast<std::size_t>(tail - sql_.data());
  if (!skip_space_and_comments(std::string_view(sql_).substr(used)).empty())
    throw Error(ErrorCode::invalid_argument,
                "text follows the first statement, and only one is run at a time: " + sql_);
  only_reads_ = sqlite3_stmt_readonly(handle) != 0;
  transaction_control_ = controls_transaction(sql_);
  may_change_record_ = !only_reads_ && speaks_of_record(sql_);
  map_parameters();
}

void Statement::map_parameters() {
  const int count = sqlite3_bind_parameter_count(handle_.get());
  for (int position = 1; position <= count; ++position) {
    const char* name = sqlite3_bind_parameter_name(handle_.get(), position);
    const int number = name == nullptr ? position : number_in(name);
    if (number < 0 || number > count)
      throw Error(ErrorCode::invalid_argument,
                  "the parameter \"" + std::string(name == nullptr ? "?" : name) +
                      "\" is not one of $1, $2, … without a gap, in: " + sql_);
    const auto index = static_cast<std::size_t>(number) - 1;
    if (positions_.size() <= index) positions_.resize(index + 1, 0);
    positions_[index] = position;
  }
}

void Statement::bind(std::span<const ValueView> parameters) {
  if (parameters.size() != positions_.size())
    throw Error(ErrorCode::invalid_argument, std::to_string(parameters.size()) +
                                                 " parameters were given to a statement with " +
                                                 std::to_string(positions_.size()) + ": " + sql_);
  bound_ = !parameters.empty();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const int position = positions_[i];
    const int code =
        position == 0 ? SQLITE_RANGE : bind_value(handle_.get(), position, parameters[i]);
    if (code == SQLITE_OK) continue;
    throw Error(ErrorCode::invalid_argument, "parameter $" + std::to_string(i + 1) +
                                                 " can not be given (" + sqlite3_errstr(code) +
                                                 ") to: " + sql_);
  }
}

RowView Statement::row() {
  const int count = sqlite3_data_count(handle_.get());
  row_.resize(static_cast<std::size_t>(count));
  for (int column = 0; column < count; ++column)
    row_[static_cast<std::size_t>(column)] = column_value(handle_.get(), column);
  return row_;
}

std::span<const std::string_view> Statement::column_names() {
  const int count = sqlite3_column_count(handle_.get());
  names_.clear();
  for (int column = 0; column < count; ++column) {
    const char* name = sqlite3_column_name(handle_.get(), column);
    names_.emplace_back(name == nullptr ? "" : name);
  }
  return names_;
}

void Statement::reset() noexcept {
  sqlite3_reset(handle_.get());
  // What was bound belongs to the caller and is about to go.
  if (bound_) sqlite3_clear_bindings(handle_.get());
  bound_ = false;
}

StatementCache::Lease StatementCache::get(std::string_view sql) {
  // The same statement again and again is what a loop over rows asks for.
  if (!statements_.empty() && statements_.front().sql() == sql && !statements_.front().in_use)
    return Lease(statements_.front());
  if (const auto found = by_sql_.find(sql); found != by_sql_.end()) {
    if (found->second->in_use) return Lease(std::make_unique<Statement>(database_, sql, place_));
    statements_.splice(statements_.begin(), statements_, found->second);
    return Lease(statements_.front());
  }
  statements_.emplace_front(database_, sql, place_);
  try {
    by_sql_.emplace(statements_.front().sql(), statements_.begin());
  } catch (...) {
    statements_.pop_front();
    throw;
  }
  if (statements_.size() > size_max_) {
    const auto oldest = std::prev(statements_.end());
    if (!oldest->in_use) {
      by_sql_.erase(oldest->sql());
      statements_.erase(oldest);
    }
  }
  return Lease(statements_.front());
}

}  // namespace ringshard::sqlite
