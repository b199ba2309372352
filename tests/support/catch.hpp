#pragma once

// Catch2 2 has one header, Catch2 3 another; tests use what both of them offer.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
