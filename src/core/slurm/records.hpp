// SPDX-License-Identifier: MIT
// The "Key=value" records that scontrol prints, of any version. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::slurm {

/// One record: a partition, a node, the configuration. Of a repeated key the first counts.
class Record {
public:
  void add(std::string key, std::string value);
  /// The value; nothing if the key is missing or Slurm says that it has none: "(null)", "None", "N/A", "n/s"
  /// and their like.
  std::optional<std::string> get(std::string_view key) const;
  /// As get, as a number; nothing for "UNLIMITED", "INFINITE" and other words.
  std::optional<unsigned long long> number(std::string_view key) const;
  /// True for YES and Yes.
  bool flag(std::string_view key) const;

private:
  std::vector<std::pair<std::string, std::string>> x_fields;
};

/// The records of `scontrol show …`, with -o or without. `first_key` begins a record: "PartitionName",
/// "NodeName". Values with spaces (OS=, Reason=, partition names) are kept whole. Lines before the first
/// record are omitted.
std::vector<Record> read_records(std::string_view text, std::string_view first_key);

/// `scontrol show config`: one "Key = value" a line.
Record read_config(std::string_view text);

/// Rows of `-P`/`--parsable2` output: columns between "|". Empty lines are omitted.
std::vector<std::vector<std::string>> read_rows(std::string_view text);

} // namespace hpcml::slurm
