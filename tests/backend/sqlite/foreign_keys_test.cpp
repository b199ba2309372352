#include "backend/sqlite/foreign_keys.hpp"

#include <ringshard/error.hpp>
#include <string>

#include "support/catch.hpp"

using ringshard::Error;
using ringshard::sqlite::without_foreign_keys;

TEST_CASE("a column's foreign key goes, and the rest of the column stays") {
  CHECK(without_foreign_keys("CREATE TABLE a (x INTEGER REFERENCES b (id) NOT NULL, y)", {"b"}) ==
        "CREATE TABLE a (x INTEGER  NOT NULL, y)");
  CHECK(without_foreign_keys("CREATE TABLE a (x REFERENCES b, y REFERENCES c)", {"b"}) ==
        "CREATE TABLE a (x , y REFERENCES c)");
  CHECK(without_foreign_keys("CREATE TABLE a (x DEFAULT 'references b (' REFERENCES b UNIQUE)",
                             {"b"}) == "CREATE TABLE a (x DEFAULT 'references b ('  UNIQUE)");
}

TEST_CASE("a table's foreign key goes with its comma") {
  CHECK(without_foreign_keys(
            "CREATE TABLE a (x, y, FOREIGN KEY (x, y) REFERENCES b (p, q), CHECK (x > 0))",
            {"b"}) == "CREATE TABLE a (x, y, CHECK (x > 0))");
  CHECK(without_foreign_keys("CREATE TABLE a (x, FOREIGN KEY (x) REFERENCES b)", {"b"}) ==
        "CREATE TABLE a (x)");
}

TEST_CASE("names, actions, matches and deferral of a foreign key go with it") {
  CHECK(without_foreign_keys(
            "CREATE TABLE a (x CONSTRAINT f REFERENCES b (id) ON DELETE SET NULL "
            "ON UPDATE NO ACTION MATCH FULL NOT DEFERRABLE INITIALLY IMMEDIATE NOT NULL)",
            {"b"}) == "CREATE TABLE a (x  NOT NULL)");
  CHECK(without_foreign_keys("CREATE TABLE a (x, CONSTRAINT \"f,(\" FOREIGN KEY (x) REFERENCES b "
                             "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED) STRICT",
                             {"b"}) == "CREATE TABLE a (x) STRICT");
}

TEST_CASE("constraints without commas between them are told apart") {
  CHECK(without_foreign_keys("CREATE TABLE a (x, PRIMARY KEY (x) FOREIGN KEY (x) REFERENCES b "
                             "FOREIGN KEY (x) REFERENCES c)",
                             {"b"}) ==
        "CREATE TABLE a (x, PRIMARY KEY (x)  FOREIGN KEY (x) REFERENCES c)");
  CHECK(without_foreign_keys(
            "CREATE TABLE a (x, FOREIGN KEY (x) REFERENCES b FOREIGN KEY (x) REFERENCES c)",
            {"b", "c"}) == "CREATE TABLE a (x)");
}

TEST_CASE("a parent is found however its name is written") {
  for (const std::string name : {"[The Genre]", "\"the genre\"", "`THE GENRE`", "'the genre'"})
    CHECK(without_foreign_keys("CREATE TABLE a (x REFERENCES " + name + "(id))", {"The Genre"}) ==
          "CREATE TABLE a (x )");
  CHECK(without_foreign_keys("CREATE TABLE a (x REFERENCES \"a\"\"b\")", {"a\"b"}) ==
        "CREATE TABLE a (x )");
  CHECK(without_foreign_keys("CREATE TABLE a (x REFERENCES größe)", {"größe"}) ==
        "CREATE TABLE a (x )");
}

TEST_CASE("comments, quoted words and inner parentheses are no foreign keys") {
  const std::string sql =
      "CREATE TABLE \"references\" ( -- x REFERENCES b, (\n [foreign key] TEXT /* REFERENCES b */,"
      " \"REFERENCES\" CHECK (x IN ('REFERENCES b')), y GENERATED ALWAYS AS (x || ')'))";
  CHECK(without_foreign_keys(sql, {"b"}) == sql);
  CHECK(without_foreign_keys("CREATE TABLE a (x/**/REFERENCES/**/b/**/(id)NOT NULL)", {"b"}) ==
        "CREATE TABLE a (x/**/ NOT NULL)");
}

TEST_CASE("a text that is no CREATE TABLE is refused") {
  CHECK_THROWS_AS(without_foreign_keys("DROP TABLE a", {"b"}), Error);
  CHECK_THROWS_AS(without_foreign_keys("CREATE TABLE a (x REFERENCES", {"b"}), Error);
  CHECK_THROWS_AS(without_foreign_keys("CREATE TABLE a (x 'y)", {"b"}), Error);
}
