#include "backend/sqlite/home_builder.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include "backend/home_row.hpp"
#include "backend/sqlite/errors.hpp"
#include "backend/sqlite/statement.hpp"
#include "schemas/sql.hpp"

namespace ringshard::sqlite {

namespace {

class Builder {
 public:
  Builder(const std::filesystem::path& file, const HomeName& home)
      : place_{"new home " + home.str(), file} {
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_NOMUTEX;
    const int code = sqlite3_open_v2(file.c_str(), &database_, flags, nullptr);
    if (code == SQLITE_OK) return;
    const Error error = translate(code, database_, place_, Phase::open);
    sqlite3_close(database_);
    throw error;
  }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder() { sqlite3_close(database_); }

  void run(const std::string& sql) {
    const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
      throw translate(sqlite3_extended_errcode(database_), database_, place_, Phase::statement,
                      sql);
  }

  void store(const HomeRecord& record) {
    Statement insert(database_, home_record_insert(), place_);
    insert.bind(home_record_values(record));
    const int code = sqlite3_step(insert.handle());
    if (code != SQLITE_DONE) throw translate(code, database_, place_, Phase::statement);
  }

 private:
  const Place place_;
  sqlite3* database_ = nullptr;
};

void sync_file(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) throw system_error(errno, "open " + file.string());
  const int error_number = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  if (error_number != 0) throw system_error(error_number, "write " + file.string());
}

}  // namespace

void build_home(const std::filesystem::path& file, const HomeName& home,
                const std::optional<HomeRecord>& record, const HomeSchema& schema) {
  {
    Builder builder(file, home);
    // Nobody else sees the file before it is complete, so it needs neither locks nor a journal.
    builder.run(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF;"
        "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; BEGIN");
    if (record) {
      builder.run(std::string(schemas::home_sqlite_create));
      builder.store(*record);
    }
    for (const std::string& statement : schema.statements) builder.run(statement);
    builder.run("COMMIT");
    if (record) builder.run("PRAGMA journal_mode = WAL");
  }
  sync_file(file);
}

}  // namespace ringshard::sqlite
