#include "setup/schema_split.hpp"

#include <algorithm>
#include <ringshard/error.hpp>
#include <set>
#include <utility>

#include "support/clock.hpp"

namespace ringshard::setup {

namespace {

/// A home in the making.
struct Part {
  HomeName name;
  std::set<std::string> tables;
  std::vector<std::string> statements;  ///< tables and indexes, later all
};

class Splitter {
 public:
  Splitter(SourceDatabase& source, const Division& division, ScratchHomes& scratch,
           Leftovers leftovers, Problems& problems)
      : source_(source),
        division_(division),
        scratch_(scratch),
        leftovers_(leftovers),
        problems_(problems),
        objects_(source.parts.objects(*source.session)),
        foreign_keys_(source.parts.foreign_keys(*source.session)) {
    home_.name = scratch.shard();
    reference_.name = scratch.reference();
    for (const TableDefinition& table : division.tables()) part_of(table).tables.insert(table.name);
    home_.statements = reference_.statements = source.parts.settings(*source.session);
  }

  SplitSchema run() {
    const std::size_t before = problems_.size();
    look_at_foreign_keys();
    if (problems_.size() != before) return {};
    collect_tables();
    place_views();
    collect_triggers();
    SplitSchema split;
    split.home = prove(home_);
    if (!reference_.tables.empty()) split.reference = prove(reference_);
    split.notes = std::move(notes_);
    return problems_.size() == before ? std::move(split) : SplitSchema{};
  }

 private:
  Part& part_of(const TableDefinition& table) { return table.reference ? reference_ : home_; }

  void look_at_foreign_keys() {
    for (const ForeignKey& key : foreign_keys_) {
      const std::string what = "the foreign key from '" + key.table + "' to '" + key.parent + "'";
      if (division_.find(key.parent) == nullptr) {
        problems_.add(what + " leads to a table that does not exist");
      } else if (division_.is_reference(key.table) && division_.is_sharded(key.parent)) {
        problems_.add(what +
                      " leads from a reference table, which every node holds whole, to rows "
                      "that are divided: remove it, or make '" +
                      key.table + "' a table with a key");
      } else if (division_.is_sharded(key.table) && division_.is_reference(key.parent)) {
        if (leftovers_ == Leftovers::refuse)
          problems_.add(what + " leads out of the home, to a reference table: remove it");
        else
          notes_.push_back(what + " is not in the homes: the reference table lies in another one");
      }
    }
  }

  void collect_tables() {
    for (const SchemaObject& object : objects_) {
      if (object.kind == ObjectKind::other) {
        home_.statements.push_back(object.statement);
        if (!reference_.tables.empty()) reference_.statements.push_back(object.statement);
        continue;
      }
      if (object.kind == ObjectKind::view || object.kind == ObjectKind::trigger) continue;
      if (object.kind == ObjectKind::foreign_key && division_.is_sharded(object.table) &&
          division_.is_reference(object.parent))
        continue;
      const TableDefinition& table = *division_.find(object.table);
      const bool rewrite = object.kind == ObjectKind::table && loses_foreign_keys(object.name);
      part_of(table).statements.push_back(
          rewrite ? source_.parts.without_foreign_keys(object.statement, reference_.tables)
                  : object.statement);
    }
  }

  bool loses_foreign_keys(const std::string& table) const {
    return std::any_of(foreign_keys_.begin(), foreign_keys_.end(), [&](const ForeignKey& key) {
      return key.table == table && is_dropped(key);
    });
  }

  bool is_dropped(const ForeignKey& key) const {
    return division_.is_sharded(key.table) && division_.is_reference(key.parent);
  }

  // The database says in which home a view works.
  void place_views() {
    std::vector<const SchemaObject*> views;
    for (const SchemaObject& object : objects_)
      if (object.kind == ObjectKind::view) views.push_back(&object);
    if (views.empty()) return;
    const auto in_home = usable_views(home_, views);
    const auto in_reference =
        reference_.tables.empty() ? std::set<std::string>{} : usable_views(reference_, views);
    for (const SchemaObject* view : views) {
      if (in_home.count(view->name) != 0) {
        home_.statements.push_back(view->statement);
        home_views_.insert(view->name);
      } else if (in_reference.count(view->name) != 0) {
        reference_.statements.push_back(view->statement);
        reference_views_.insert(view->name);
      } else {
        leave_out_view(view->name);
      }
    }
  }

  void leave_out_view(const std::string& name) {
    const std::string what =
        "the view '" + name + "' can not be kept: it needs tables that no home has together";
    if (leftovers_ == Leftovers::refuse)
      problems_.add(what + ": remove it");
    else
      notes_.push_back(what);
  }

  std::set<std::string> usable_views(const Part& part,
                                     const std::vector<const SchemaObject*>& views) {
    scratch_.make(part.name, part.statements);
    std::set<std::string> usable;
    // A view may come before another one that it needs.
    for (bool found = true; found;) {
      found = false;
      for (const SchemaObject* view : views)
        if (usable.count(view->name) == 0 && works(part, *view)) {
          usable.insert(view->name);
          found = true;
        }
    }
    return usable;
  }

  /// Makes the view if it works.
  bool works(const Part& part, const SchemaObject& view) {
    const auto session = scratch_.backend().connect(part.name, SessionUse::application);
    SessionTransaction tx(*session, part.name, TxMode::write, Deadline());
    try {
      session->run_script(view.statement);
      session->rows("SELECT * FROM " + quoted(view.name) + " LIMIT 0");
    } catch (const Error& error) {
      if (error.code() != ErrorCode::sql) throw;
      return false;
    }
    tx.commit();
    return true;
  }

  void collect_triggers() {
    for (const SchemaObject& object : objects_) {
      if (object.kind != ObjectKind::trigger) continue;
      if (home_views_.count(object.table) != 0 || division_.is_sharded(object.table))
        home_.statements.push_back(object.statement);
      else if (reference_views_.count(object.table) != 0 || division_.is_reference(object.table))
        reference_.statements.push_back(object.statement);
    }
  }

  HomeSchema prove(const Part& part) {
    scratch_.make(part.name, part.statements);
    const Dialect& dialect = scratch_.backend().dialect();
    HomeSchema schema;
    {
      const auto session = scratch_.backend().connect(part.name, SessionUse::maintenance);
      SessionTransaction tx(*session, part.name, TxMode::read, Deadline());
      schema = dialect.describe_schema(*session);
      compare(*session, part);
    }
    const auto session = scratch_.backend().connect(part.name, SessionUse::application);
    for (const Table& table : schema.tables) try_writes(*session, part, table);
    return schema;
  }

  void compare(Session& session, const Part& part) {
    for (const std::string& table : part.tables)
      if (source_.parts.shape(*source_.session, table) != source_.parts.shape(session, table))
        problems_.add("table '" + table +
                      "' would not be the same in a home; its definition is one that can not be "
                      "taken apart");
    std::vector<ForeignKey> expected;
    for (const ForeignKey& key : foreign_keys_)
      if (part.tables.count(key.table) != 0 && !is_dropped(key)) expected.push_back(key);
    if (source_.parts.foreign_keys(session) != expected)
      problems_.add("the foreign keys of the tables would not be the same in a home");
  }

  // To compile a statement the database resolves all that its triggers and foreign keys name; no
  // row is touched.
  void try_writes(Session& session, const Part& part, const Table& table) {
    const std::string name = quoted(table.name);
    const std::string columns = quoted_list(table.columns);
    std::string assignments;
    for (const std::string& column : table.columns)
      if (std::ranges::count(table.fixed_columns, column) == 0)
        assignments += (assignments.empty() ? "" : ", ") + quoted(column) + " = " + quoted(column);
    SessionTransaction tx(session, part.name, TxMode::write, Deadline());
    try {
      session.execute("INSERT INTO " + name + " (" + columns + ")" +
                      std::string(source_.dialect.quirks().insert_words) + " SELECT " + columns +
                      " FROM " + name + " WHERE 1 = 0");
      if (!assignments.empty())
        session.execute("UPDATE " + name + " SET " + assignments + " WHERE 1 = 0");
      session.execute("DELETE FROM " + name + " WHERE 1 = 0");
    } catch (const Error& error) {
      if (error.code() != ErrorCode::sql) throw;
      problems_.add("table '" + table.name +
                    "' could not be written in a home, because a trigger or a foreign key of it "
                    "needs what is not there (" +
                    error.what() + "): drop that");
    }
  }

  SourceDatabase& source_;
  const Division& division_;
  ScratchHomes& scratch_;
  const Leftovers leftovers_;
  Problems& problems_;
  const std::vector<SchemaObject> objects_;
  const std::vector<ForeignKey> foreign_keys_;
  Part home_;
  Part reference_;
  std::set<std::string> home_views_;
  std::set<std::string> reference_views_;
  std::vector<std::string> notes_;
};

}  // namespace

ScratchHomes::ScratchHomes(Backend& backend, const std::string& keyspace)
    : backend_(backend),
      whole_{keyspace + "-source", std::nullopt},
      shard_{keyspace + "-new", ShardId{0}},
      reference_{keyspace + "-new", std::nullopt} {
  backend_.prepare_node();
  drop_all();
}

ScratchHomes::~ScratchHomes() {
  try {
    drop_all();
  } catch (const std::exception&) {
    // The next setup drops them.
  }
}

void ScratchHomes::drop_all() {
  for (const HomeName* home : {&shard_, &whole_, &reference_}) backend_.drop_home(*home);
}

void ScratchHomes::make(const HomeName& home, const std::vector<std::string>& statements) {
  backend_.drop_home(home);
  std::optional<HomeRecord> record;
  if (home.shard) {
    record.emplace();
    record->keyspace = home.keyspace;
    record->shard = *home.shard;
  }
  backend_.create_home(home, record, HomeSchema{.tables = {}, .statements = statements});
}

SplitSchema split_schema(SourceDatabase& source, const Division& division, ScratchHomes& scratch,
                         Leftovers leftovers, Problems& problems) {
  return Splitter(source, division, scratch, leftovers, problems).run();
}

}  // namespace ringshard::setup
