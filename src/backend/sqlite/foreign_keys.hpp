#pragma once

#include <set>
#include <string>
#include <string_view>

namespace ringshard::sqlite {

/// A CREATE TABLE statement without its foreign keys to any of `parents` (compared as SQLite
/// compares names, ignoring the case of ASCII letters), in both forms, with their names, actions
/// and deferral. Every other character stays, but for the comma before a constraint that is gone.
/// Follows the grammar of https://sqlite.org/lang_createtable.html and that of SQLite's parse.y
/// where it allows more: constraints of a table need no comma between them. Throws Error{schema}
/// for a text that is no such statement.
std::string without_foreign_keys(std::string_view create_table,
                                 const std::set<std::string>& parents);

}  // namespace ringshard::sqlite
