#pragma once
// The one place that includes protozero. Its asserts guard against wrong wire types and bad lengths,
// which are properties of the input: they throw, in every build type.

#include <protozero/exception.hpp>

namespace tenon::wire {

struct ProtobufAssertion final : protozero::exception {
  const char* what() const noexcept override { return "a field has the wrong wire type or length"; }
};

}  // namespace tenon::wire

#define protozero_assert(condition) ((condition) ? void() : throw ::tenon::wire::ProtobufAssertion{})

#include <protozero/pbf_writer.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>
