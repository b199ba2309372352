#pragma once

#include "backend/conformance.hpp"
#include "backend/postgres_fixture.hpp"
#include "backend/sqlite_fixture.hpp"
#include "support/catch.hpp"

/// A test that every backend has to pass; TestType is its fixture.
#define CONFORMANCE_TEST_CASE(claim)                                              \
  TEMPLATE_TEST_CASE(claim, "[conformance]", ::ringshard::testing::SqliteFixture, \
                     ::ringshard::testing::PostgresFixture)
