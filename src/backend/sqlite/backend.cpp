#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <ringshard/error.hpp>
#include <system_error>

#include "backend/factories.hpp"
#include "backend/sqlite/dialect.hpp"
#include "backend/sqlite/errors.hpp"
#include "backend/sqlite/home_files.hpp"
#include "backend/sqlite/name_watch.hpp"
#include "backend/sqlite/session.hpp"

namespace ringshard {

namespace fs = std::filesystem;

namespace sqlite {

namespace {

fs::path absolute_path(std::string_view location) {
  std::error_code error;
  fs::path path = fs::absolute(fs::path(location), error).lexically_normal();
  if (error || location.find('\0') != std::string_view::npos)
    throw Error(ErrorCode::invalid_argument, "\"" + std::string(location) + "\" is no usable path");
  // "/a/b/" and "/a/b" are one directory.
  return path.has_filename() ? path : path.parent_path();
}

class SqliteBackend final : public Backend {
 public:
  SqliteBackend(fs::path directory, Clock& clock, const SqliteOptions& options)
      : files_(std::move(directory)), clock_(clock), options_(options) {}

  const Dialect& dialect() const noexcept override { return dialect_; }

  std::unique_ptr<Session> connect(const HomeName& home, SessionUse use) override {
    SessionSpec spec;
    spec.place = {"home " + home.str(), files_.file_of(home)};
    spec.home = home;
    spec.use = use;
    spec.options = options_;
    spec.watch = watch_;
    if (home.shard) {
      fs::path reference = files_.file_of({home.keyspace, std::nullopt});
      std::error_code error;
      if (fs::exists(reference, error)) spec.reference = std::move(reference);
    }
    return std::make_unique<SqliteSession>(std::move(spec), clock_);
  }

  std::string session_key(const HomeName& home) const override { return home.str(); }

  // Opening a file and closing its last connection, which empties the write-ahead log, cost far
  // more than a transaction; a connection is a few file descriptors.
  std::size_t idle_sessions_max() const noexcept override { return 64; }

  void check_node() override { files_.require_preparable(); }
  void prepare_node() override { files_.prepare(); }
  void ping() override { files_.require_directory(); }
  NodeFacts facts() override {
    NodeFacts facts;
    facts.version = std::string("SQLite ") + sqlite3_libversion();
    facts.major_version = sqlite3_libversion_number() / 1'000'000;
    // A directory that is not there yet is made where its parent is.
    std::error_code error;
    fs::path place = files_.directory();
    while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
    const fs::space_info space = fs::space(place, error);
    if (!error) facts.bytes_free = static_cast<std::int64_t>(space.available);
    return facts;
  }
  bool home_exists(const HomeName& home) override { return files_.exists(home); }
  void create_home(const HomeName& home, const std::optional<HomeRecord>& record,
                   const HomeSchema& schema) override {
    files_.create(home, record, schema);
  }
  void drop_home(const HomeName& home) override { files_.drop(home); }
  bool drop_home_if(const HomeName& home,
                    const std::function<bool(const std::optional<HomeRecord>&)>& may_go,
                    Deadline lock_deadline) override {
    if (!files_.exists(home)) return true;
    const std::unique_ptr<Session> session = connect(home, SessionUse::maintenance);
    const SessionTransaction tx(*session, home, TxMode::exclusive, lock_deadline);
    if (!may_go(tx.record())) return false;
    files_.drop(home);
    return true;
  }
  std::vector<HomeName> homes(std::string_view keyspace) override { return files_.list(keyspace); }
  std::int64_t home_bytes(const HomeName& home) override { return files_.bytes(home); }

 private:
  HomeFiles files_;
  const std::shared_ptr<NameWatch> watch_ = std::make_shared<NameWatch>();
  Clock& clock_;
  const SqliteOptions options_;
  const SqliteDialect dialect_;
};

}  // namespace
}  // namespace sqlite

std::unique_ptr<Backend> open_sqlite_backend(std::string_view location, Clock& clock,
                                             const BackendOptions& options) {
  SqliteOptions own = options.sqlite;
  own.synchronous_full = own.synchronous_full || options.durable;
  return std::make_unique<sqlite::SqliteBackend>(sqlite::absolute_path(location), clock, own);
}

std::unique_ptr<CatalogListener> listen_to_sqlite_catalog(std::string_view, Clock&) {
  return nullptr;
}

std::unique_ptr<Session> connect_sqlite_catalog(std::string_view location, Clock& clock,
                                                bool create) {
  sqlite::SessionSpec spec;
  spec.place = {"the catalog", sqlite::absolute_path(location)};
  spec.create = create;
  std::error_code error;
  if (create) {
    fs::create_directories(spec.place.file.parent_path(), error);
    if (error)
      throw sqlite::system_error(error.value(),
                                 "make the directory " + spec.place.file.parent_path().string());
  } else if (!fs::exists(spec.place.file, error)) {
    throw Error(ErrorCode::not_found,
                spec.place.str() + " does not exist: is it mounted, and was `ringshard init` run?");
  }
  return std::make_unique<sqlite::SqliteSession>(std::move(spec), clock);
}

}  // namespace ringshard
