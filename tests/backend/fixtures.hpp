#pragma once

#include "backend/conformance.hpp"
#include "backend/postgres_fixture.hpp"
#include "backend/sqlite_fixture.hpp"
#include "support/catch.hpp"

namespace ringshard::testing {

/// The fixture of the database that the running test is for.
class SelectedFixture final : public BackendFixture {
 public:
  using Maker = std::unique_ptr<BackendFixture> (*)();
  static inline Maker maker = nullptr;

  std::unique_ptr<Backend> open_node(const std::string& name) override {
    return fixture_->open_node(name);
  }
  std::string blob_type() const override { return fixture_->blob_type(); }
  std::string double_type() const override { return fixture_->double_type(); }
  std::string case_folding_text_type() const override { return fixture_->case_folding_text_type(); }
  std::string counted_key_type() const override { return fixture_->counted_key_type(); }

 private:
  const std::unique_ptr<BackendFixture> fixture_ = maker();
};

template <class Fixture>
void with_fixture(void (*test)()) {
  SelectedFixture::maker = [] { return std::unique_ptr<BackendFixture>(new Fixture()); };
  test();
}

}  // namespace ringshard::testing

#define CONFORMANCE_NAME_2(line) conformance_test_##line
#define CONFORMANCE_NAME(line) CONFORMANCE_NAME_2(line)

/// A test that every backend has to pass, compiled once; its fixture is SelectedFixture.
#define CONFORMANCE_TEST_CASE(claim)                                           \
  static void CONFORMANCE_NAME(__LINE__)();                                    \
  TEST_CASE(claim ": sqlite") {                                                \
    ::ringshard::testing::with_fixture<::ringshard::testing::SqliteFixture>(   \
        CONFORMANCE_NAME(__LINE__));                                           \
  }                                                                            \
  TEST_CASE(claim ": postgres") {                                              \
    ::ringshard::testing::with_fixture<::ringshard::testing::PostgresFixture>( \
        CONFORMANCE_NAME(__LINE__));                                           \
  }                                                                            \
  static void CONFORMANCE_NAME(__LINE__)()
