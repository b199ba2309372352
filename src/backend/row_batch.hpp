#pragma once

#include <cstddef>
#include <memory_resource>
#include <ringshard/value.hpp>
#include <span>
#include <vector>

namespace ringshard {

/// Many rows in few allocations: what is read on one side and written on the other. Rows are valid
/// until clear().
class RowBatch {
 public:
  RowBatch() = default;
  RowBatch(const RowBatch&) = delete;
  RowBatch& operator=(const RowBatch&) = delete;

  void append(RowView row);
  void clear();

  std::size_t size() const noexcept { return width_ == 0 ? 0 : values_.size() / width_; }
  bool empty() const noexcept { return values_.empty(); }
  /// Bytes of content: eight for each value and the length of texts and blobs.
  std::size_t bytes() const noexcept { return bytes_; }
  RowView operator[](std::size_t index) const {
    return RowView(values_).subspan(index * width_, width_);
  }
  /// The values of `count` rows, one row after the other.
  RowView range(std::size_t index, std::size_t count) const {
    return RowView(values_).subspan(index * width_, count * width_);
  }

 private:
  std::string_view keep(std::string_view content);

  std::pmr::monotonic_buffer_resource memory_;
  std::vector<ValueView> values_;
  std::size_t width_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace ringshard
