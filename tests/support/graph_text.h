#pragma once

// Graphs in their text form, and what is in them.
#include <gtest/gtest.h>

#include "ir/text.h"

namespace tenon::test {

inline Graph graph_of(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return graph.ok() ? std::move(*graph) : Graph();
}

inline ValueId value_named(const Graph& graph, std::string_view name) {
  for (size_t i = 0; i < graph.value_count(); ++i)
    if (graph.value(ValueId(i)).name == name) return ValueId(i);
  ADD_FAILURE() << name;
  return kNone;
}

}  // namespace tenon::test
