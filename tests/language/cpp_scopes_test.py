# SPDX-License-Identifier: MIT
"""Identifiers and scopes of C++ sources."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cpp_scopes import CppNames  # noqa: E402

SOURCE = """#include "given.hpp"
namespace hpcml::plan {
namespace {
#define GIVEN(x) f(x)
constexpr std::array<Row, 2> rows = {{{1, "given"}, {2, "x"}}};
enum class Kind { a, b };

/// Docstring
/// of two lines.
template <class T>
std::optional<std::function<void(int)>> find_it(const T& given, int other = max(1, 2)) {
  if (given.other->one) return Kind::a;  // given
  auto f = [&](auto& one) { return one; };
  return {};
}

// A comment of its own.

int next;
}  // namespace

struct Plan : Base<int> {
  int given = 0;
  Plan() : given{1}, x_given{2} { run(given); }
  bool is_given() const { return given; }
 private:
  std::vector<int> x_given;
};

Plan::Plan(int) : given(1) {}
bool Plan::check(const Remarks& said) const noexcept {
  return said.count<2>();
}
bool operator==(const Plan& one, const Plan& other);
void last(Told<Placement>&& told) {}
}
"""


class CppScopesTest(unittest.TestCase):
    """The reader of declarations."""

    def setUp(self) -> None:
        self.names = CppNames("plan.cpp", SOURCE)

    def text_of(self, name: str) -> str:
        """Returns the text of the only scope with a name."""
        found = [s for s in self.names.scopes() if s.is_called(name)]
        self.assertEqual(len(found), 1, f"{name}: {[s.name for s in self.names.scopes()]}")
        return SOURCE[found[0].begin : found[0].end]

    def test_a_function_has_its_comment_and_its_body(self) -> None:
        text = self.text_of("find_it")
        self.assertTrue(text.startswith("/// Docstring\n/// of two"))
        self.assertTrue(text.endswith("return {};\n}"))

    def test_a_comment_after_an_empty_line_belongs_to_nothing(self) -> None:
        self.assertEqual(self.text_of("next"), "int next;")

    def test_a_class_contains_its_members(self) -> None:
        self.assertTrue(self.text_of("Plan::is_given").startswith("bool is_given"))
        self.assertEqual(self.text_of("Plan::x_given"), "std::vector<int> x_given;")
        self.assertIn("Plan::given", [s.name for s in self.names.scopes()])

    def test_a_constructor_with_braces_in_its_initializers_is_one_scope(self) -> None:
        texts = [SOURCE[s.begin : s.end] for s in self.names.scopes() if s.name == "Plan::Plan"]
        self.assertEqual(texts[0], "Plan() : given{1}, x_given{2} { run(given); }")
        self.assertEqual(texts[1], "Plan::Plan(int) : given(1) {}")

    def test_a_method_is_found_with_and_without_its_class(self) -> None:
        self.assertEqual(self.text_of("check"), self.text_of("Plan::check"))
        self.assertTrue(self.text_of("last").endswith("{}"))
        self.assertTrue(self.text_of("rows").startswith("constexpr"))

    def test_a_word_knows_if_it_is_a_member(self) -> None:
        words = {(w.text, w.is_member, w.is_qualified) for w in self.names.words}
        self.assertIn(("one", True, False), words)
        self.assertIn(("one", False, False), words)
        self.assertIn(("a", False, True), words)
        self.assertNotIn(("hpp", True, False), words)

    def test_declared_types_are_those_of_declarations(self) -> None:
        self.assertEqual(set(self.names.declared_types("said")), {"Remarks"})
        self.assertEqual(set(self.names.declared_types("told")), {"Told"})
        self.assertEqual(set(self.names.declared_types("other")), {"int", "Plan"})
        self.assertEqual(set(self.names.declared_types("Kind")), {"class"})

    def test_an_operator_is_not_a_declaration(self) -> None:
        for code in ("f(a & given);", "x = a * given;", "return given;", "case given:", "a.b given_1;", "f(x, given);"):
            self.assertEqual(CppNames("a.cpp", code).declared_types("given"), {}, code)


if __name__ == "__main__":
    unittest.main()
