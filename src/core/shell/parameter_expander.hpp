// SPDX-License-Identifier: MIT
// Expansions of parameters: ${a:-b}, ${a[@]}, $1.
#pragma once

#include "core/shell/word_expander.hpp"

namespace hpcml::shell {

/// Expands parameters by what is known of their values.
class ParameterExpander : public WordExpander {
protected:
  using WordExpander::WordExpander;

  std::optional<long long> evaluate(std::string_view text) const override;
  bool is_stale(std::string_view name) const override;
  virtual void set_value(const std::string& name, Value value, bool append, TextRange place) = 0;

private:
  void expand_parameter(const WordPart& part, Fields& fields) override;
  bool expand_list(const WordPart& part, Fields& fields);
  void expand_words(const std::vector<Argument>& words, const WordPart& part, Fields& fields, bool caveat);
  void expand_default(const WordPart& part, Fields& fields, const std::optional<Argument>& value,
                      bool known_unset);
  void note_element(const ParameterExpansion& parameter, TextRange place);
  std::optional<Argument> scalar_of(const ParameterExpansion& parameter, bool& known_unset) const;
};

} // namespace hpcml::shell
