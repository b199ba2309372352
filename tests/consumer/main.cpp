#include <iostream>
#include <ringshard/error.hpp>

int main() {
  try {
    throw ringshard::Error(ringshard::ErrorCode::timeout, "as a consumer sees it");
  } catch (const ringshard::Error& error) {
    std::cout << ringshard::to_string(error.code()) << ": " << error.what() << '\n';
    return error.retryable() ? 0 : 1;
  }
}
