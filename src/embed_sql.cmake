# Writes a header with one std::string_view for each SQL file: schemas/home/sqlite/create.sql becomes
# ringshard::schemas::home_sqlite_create. Run as: cmake -D folder=… -D files=a.sql;b/c.sql
# -D output=… -P embed_sql.cmake

set(text "// Made from the SQL files under schemas/ by src/embed_sql.cmake.\n#pragma once\n\n")
string(APPEND text "#include <string_view>\n\nnamespace ringshard::schemas {\n")

foreach(file IN LISTS files)
  string(REGEX REPLACE "\\.sql$" "" name "${file}")
  string(MAKE_C_IDENTIFIER "${name}" name)
  file(READ "${folder}/${file}" sql)
  string(FIND "${sql}" ")__sql__\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} contains )__sql__\", which ends the constant that it is put in")
  endif()
  string(APPEND text "\ninline constexpr std::string_view ${name} = R\"__sql__(${sql})__sql__\";\n")
endforeach()

string(APPEND text "\n}  // namespace ringshard::schemas\n")
file(WRITE "${output}" "${text}")
