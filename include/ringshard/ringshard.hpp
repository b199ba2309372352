#pragma once

// Everything that a service needs to embed ringshard. Start reading at cluster.hpp.

#include <ringshard/cluster.hpp>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <ringshard/hash.hpp>
#include <ringshard/id_generator.hpp>
#include <ringshard/ids.hpp>
#include <ringshard/key.hpp>
#include <ringshard/log.hpp>
#include <ringshard/ring.hpp>
#include <ringshard/rows.hpp>
#include <ringshard/topology.hpp>
#include <ringshard/transaction.hpp>
#include <ringshard/value.hpp>
