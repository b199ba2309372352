#include <cstdint>
#include <limits>
#include <optional>
#include <ringshard/ringshard.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace ringshard;

namespace {

Rows sample() {
  Rows rows({"id", "price", "name", "data", "none"});
  const std::vector<ValueView> row{std::int64_t{7}, 2.5, std::string_view("tea"),
                                   BlobView{std::string_view("\0\1", 2)}, Null{}};
  rows.append(row);
  return rows;
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("each value of a row is given as the type that it is") {
  const Rows rows = sample();
  REQUIRE(rows.size() == 1);
  const auto row = rows[0];
  CHECK(row.at<std::int64_t>(0) == 7);
  CHECK(row.at<std::uint8_t>("id") == 7);
  CHECK(row.at<double>("id") == 7.0);
  CHECK(row.at<double>("price") == 2.5);
  CHECK(row.at<std::string>("name") == "tea");
  CHECK(row.at<std::string_view>("name") == "tea");
  CHECK(row.at<Blob>("data").bytes.size() == 2);
  CHECK(row.at<std::optional<std::string>>("none") == std::nullopt);
  CHECK(row.at<std::optional<std::int64_t>>("id") == 7);
  CHECK(std::holds_alternative<Null>(row.at<Value>("none")));
  int count = 0;
  for (const auto each : rows) count += static_cast<int>(each.size());
  CHECK(count == 5);
}

TEST_CASE("a value of another type is refused with its row, column and content") {
  const Rows rows = sample();
  CHECK(refusal([&] { rows.at<std::int64_t>(0, "name"); }) ==
        "row 0, column 'name' is 'tea', not an integer");
  CHECK(refusal([&] { rows.at<std::string>(0, "none"); }) ==
        "row 0, column 'none' is NULL, not text: ask for a std::optional");
  CHECK_FALSE(refusal([&] { rows.at<std::int64_t>(0, "price"); }).empty());
  CHECK_FALSE(refusal([&] { rows.at<bool>(0, "id"); }).empty());
  CHECK_FALSE(refusal([&] { rows.at<Blob>(0, "name"); }).empty());
  CHECK_FALSE(refusal([&] { rows.at<std::int64_t>(1, 0); }).empty());
  CHECK(refusal([&] { rows.at<int>(0, "nome"); }).find("id, price, name") != std::string::npos);
}

TEST_CASE("an integer that does not fit is refused and not cut") {
  Rows rows({"n"});
  const std::vector<ValueView> row{std::numeric_limits<std::int64_t>::max()};
  rows.append(row);
  CHECK_FALSE(refusal([&] { rows.at<std::int32_t>(0, 0); }).empty());
  CHECK_FALSE(refusal([&] { rows.at<double>(0, 0); }).empty());
  CHECK(rows.at<std::int64_t>(0, 0) == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("the caller's values become parameters of the right type") {
  const std::string text = "text";
  const std::optional<std::string> some = "some";
  const auto parameters = detail::to_parameters(1, 2u, true, 1.5f, "a", text, some,
                                                std::optional<int>(), std::nullopt, Blob{"b"});
  CHECK(std::get<std::int64_t>(parameters[0]) == 1);
  CHECK(std::get<std::int64_t>(parameters[1]) == 2);
  CHECK(std::get<std::int64_t>(parameters[2]) == 1);
  CHECK(std::get<double>(parameters[3]) == 1.5);
  CHECK(std::get<std::string_view>(parameters[4]) == "a");
  CHECK(std::get<std::string_view>(parameters[5]) == "text");
  CHECK(std::get<std::string_view>(parameters[6]) == "some");
  CHECK(std::holds_alternative<Null>(parameters[7]));
  CHECK(std::holds_alternative<Null>(parameters[8]));
  CHECK(std::holds_alternative<BlobView>(parameters[9]));
  CHECK_FALSE(refusal([] { detail::to_parameter(UINT64_MAX); }).empty());
  CHECK_FALSE(refusal([] { detail::to_parameter(static_cast<const char*>(nullptr)); }).empty());
}
