#include "catalog/catalog.hpp"

#include <chrono>
#include <random>
#include <ringshard/error.hpp>
#include <utility>
#include <variant>

#include "backend/backend.hpp"
#include "catalog/implementation.hpp"
#include "schemas/sql.hpp"

namespace ringshard {

namespace {

/// What this program reads and writes. It grows when an older program would misread what is stored.
constexpr std::int64_t catalog_format = 1;

/// Several migrators and every router use one catalog; each of its transactions takes milliseconds.
constexpr std::chrono::seconds lock_wait_max{10};

}  // namespace

std::string random_id() {
  std::random_device device;
  std::string id;
  for (int word = 0; word < 4; ++word) {
    const std::uint32_t bits = device();
    for (int shift = 28; shift >= 0; shift -= 4)
      id.push_back("0123456789abcdef"[(bits >> static_cast<unsigned>(shift)) & 0xfU]);
  }
  return id;
}

const std::string& text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  throw Error(ErrorCode::corrupt,
              "the catalog holds " + describe(view(value)) + " where a text must be");
}

std::int64_t integer_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  throw Error(ErrorCode::corrupt,
              "the catalog holds " + describe(view(value)) + " where an integer must be");
}

void Catalog::Implementation::connect() {
  auto fresh = connect_catalog(dsn, clock, false);
  std::optional<Row> row;
  try {
    SessionTransaction tx(*fresh, TxMode::read, Deadline::after(clock, lock_wait_max));
    row = fresh->first_row("SELECT id, format FROM ringshard_catalog");
    tx.commit();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::sql) throw;
  }
  if (!row)
    throw Error(ErrorCode::not_found,
                "the database " + dsn + " is not a ringshard catalog: run `ringshard init`");
  const std::int64_t format = integer_of((*row)[1]);
  if (format > catalog_format)
    throw Error(ErrorCode::refused, "the catalog " + dsn + " has format " + std::to_string(format) +
                                        ", this program knows formats up to " +
                                        std::to_string(catalog_format) +
                                        ": use the newer ringshard that made it");
  if (!id.empty() && id != text_of((*row)[0]))
    throw Error(ErrorCode::refused, "the catalog " + dsn + " is another one now: its id was " + id +
                                        " and is " + text_of((*row)[0]) + "; start again");
  id = text_of((*row)[0]);
  session = std::move(fresh);
}

void Catalog::Implementation::transact(TxMode mode, const std::function<void(Session&)>& work) {
  const Deadline deadline = Deadline::after(clock, lock_wait_max);
  for (std::chrono::microseconds pause{500};;
       pause = std::min(pause * 2, std::chrono::microseconds{50'000})) {
    if (!session || !session->usable()) connect();
    try {
      SessionTransaction tx(*session, mode, deadline);
      work(*session);
      tx.commit();
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::conflict || deadline.passed(clock)) throw;
    }
    clock.sleep_for(pause);
  }
}

std::uint64_t Catalog::Implementation::version_of(std::string_view keyspace) {
  const auto row =
      session->first_row("SELECT version FROM ringshard_keyspace WHERE name = $1", {keyspace});
  if (!row)
    throw Error(ErrorCode::not_found, "the catalog " + dsn + " has no keyspace '" +
                                          std::string(keyspace) + "': run `ringshard init`");
  return static_cast<std::uint64_t>(integer_of((*row)[0]));
}

std::uint64_t Catalog::Implementation::raise_version(std::string_view keyspace) {
  session->execute("UPDATE ringshard_keyspace SET version = version + 1 WHERE name = $1",
                   {keyspace});
  session->notify();
  return version_of(keyspace);
}

void Catalog::Implementation::insert_event(const Event& event) {
  session->execute(
      "INSERT INTO ringshard_event (seq, at_ms, keyspace, move_id, what, text, version) "
      "VALUES ((SELECT COALESCE(MAX(seq), 0) + 1 FROM ringshard_event), $1, $2, $3, $4, $5, $6)",
      {event.at_ms, std::string_view(event.keyspace), std::string_view(event.move_id),
       std::string_view(event.what), std::string_view(event.text),
       static_cast<std::int64_t>(event.version)});
}

void Catalog::Implementation::note(std::string_view keyspace, std::string_view move_id,
                                   std::string_view what, std::string text, std::uint64_t version) {
  insert_event({.at_ms = clock.unix_ms(),
                .keyspace = std::string(keyspace),
                .move_id = std::string(move_id),
                .what = std::string(what),
                .text = std::move(text),
                .version = version});
}

Catalog Catalog::open(const std::string& dsn, Clock& clock) {
  auto implementation = std::make_unique<Implementation>(dsn, clock);
  implementation->connect();
  return Catalog(std::move(implementation));
}

Catalog Catalog::create(const std::string& dsn, Clock& clock) {
  try {
    return open(dsn, clock);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
  }
  {
    // Whoever makes it at the same time waits here, and then finds everything made.
    const auto session = connect_catalog(dsn, clock, true);
    SessionTransaction tx(*session, TxMode::exclusive, Deadline::after(clock, lock_wait_max));
    session->run_script(schemas::catalog_create);
    session->execute(
        "INSERT INTO ringshard_catalog (singleton, id, format) VALUES (1, $1, $2) "
        "ON CONFLICT (singleton) DO NOTHING",
        {std::string_view(random_id()), catalog_format});
    tx.commit();
  }
  return open(dsn, clock);
}

Catalog::Catalog(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;
Catalog::~Catalog() = default;

const std::string& Catalog::id() const noexcept { return implementation_->id; }

std::uint64_t Catalog::version(std::string_view keyspace) {
  std::uint64_t version = 0;
  implementation_->read([&](Session&) { version = implementation_->version_of(keyspace); });
  return version;
}

void Catalog::add_event(const Event& event) {
  implementation_->write([&](Session&) {
    Event stored = event;
    if (stored.at_ms == 0) stored.at_ms = implementation_->clock.unix_ms();
    if (stored.version == 0 && !stored.keyspace.empty())
      stored.version = implementation_->version_of(stored.keyspace);
    implementation_->insert_event(stored);
  });
}

std::vector<Event> Catalog::events(std::string_view keyspace, std::int64_t limit) {
  std::vector<Event> events;
  implementation_->read([&](Session& session) {
    events.clear();
    for (const Row& row :
         session.rows("SELECT at_ms, keyspace, move_id, what, text, version FROM ringshard_event "
                      "WHERE keyspace = $1 ORDER BY seq DESC LIMIT $2",
                      {keyspace, limit}))
      events.push_back({.at_ms = integer_of(row[0]),
                        .keyspace = text_of(row[1]),
                        .move_id = text_of(row[2]),
                        .what = text_of(row[3]),
                        .text = text_of(row[4]),
                        .version = static_cast<std::uint64_t>(integer_of(row[5]))});
  });
  return events;
}

}  // namespace ringshard
