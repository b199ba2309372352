#include <ringshard/config.hpp>

#include "support/catch.hpp"

using ringshard::redact;

TEST_CASE("the password of a URL is hidden and the rest is not") {
  CHECK(redact("postgres://user:secret@host:5432/db") == "postgres://user:***@host:5432/db");
  CHECK(redact("postgres://user@host:5432/db") == "postgres://user@host:5432/db");
  CHECK(redact("postgres://host:5432/db") == "postgres://host:5432/db");
  CHECK(redact("postgres://:secret@host/db") == "postgres://:***@host/db");
  CHECK(redact("sqlite:/var/lib/a") == "sqlite:/var/lib/a");
}

TEST_CASE("a password that should have been percent-encoded is hidden whole") {
  CHECK(redact("postgres://u:p@ss/w:rd@host/db") == "postgres://u:***@host/db");
  CHECK(redact("postgres://u:pa'ss\"w@host/db") == "postgres://u:***@host/db");
}

TEST_CASE("a password given as a parameter is hidden") {
  CHECK(redact("host=h password=secret dbname=d") == "host=h password=*** dbname=d");
  CHECK(redact("password = secret") == "password = ***");
  CHECK(redact("password='two words' user=u") == "password=*** user=u");
  CHECK(redact(R"(password='it\'s' user=u)") == "password=*** user=u");
  CHECK(redact(R"(password=two\ words user=u)") == "password=*** user=u");
  CHECK(redact("password='never closed") == "password=***");
  CHECK(redact("password=a&b user=u") == "password=*** user=u");
  CHECK(redact("PGPASSWORD=secret sslpassword=other pwd=x") ==
        "PGPASSWORD=*** sslpassword=*** pwd=***");
  CHECK(redact("postgres://h/d?user=u&password=secret&sslmode=on") ==
        "postgres://h/d?user=u&password=***&sslmode=on");
  CHECK(redact("password=") == "password=***");
}

TEST_CASE("every password of a longer text is hidden") {
  CHECK(redact("from postgres://a:b@h/d to postgres://c:d@h/d: no password=x here") ==
        "from postgres://a:***@h/d to postgres://c:***@h/d: no password=*** here");
  CHECK(redact("") == "");
  CHECK(redact("://") == "://");
  CHECK(redact("=") == "=");
}
