#include "backend/row_batch.hpp"

#include <cstring>
#include <ringshard/error.hpp>
#include <string>

namespace ringshard {

std::string_view RowBatch::keep(std::string_view content) {
  if (content.empty()) return {};
  auto* copy = static_cast<char*>(memory_.allocate(content.size(), 1));
  std::memcpy(copy, content.data(), content.size());
  return {copy, content.size()};
}

void RowBatch::append(RowView row) {
  if (width_ == 0) width_ = row.size();
  if (row.size() != width_ || row.empty()) {
    throw Error(ErrorCode::internal, "a row of " + std::to_string(row.size()) +
                                         " values was put into a batch of rows of " +
                                         std::to_string(width_));
  }
  for (const ValueView& value : row) {
    bytes_ += 8;
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      values_.emplace_back(keep(*text));
      bytes_ += text->size();
    } else if (const auto* blob = std::get_if<BlobView>(&value)) {
      values_.emplace_back(BlobView{keep(blob->bytes)});
      bytes_ += blob->bytes.size();
    } else {
      values_.push_back(value);
    }
  }
}

void RowBatch::clear() {
  values_.clear();
  memory_.release();
  width_ = 0;
  bytes_ = 0;
}

}  // namespace ringshard
