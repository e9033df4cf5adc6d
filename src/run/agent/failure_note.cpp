// SPDX-License-Identifier: MIT
#include "run/agent/failure_note.hpp"

#include "run/store/packed.hpp"

namespace hpcml::agent {

namespace {

constexpr std::string_view k_mark = "hpcml failure 4";

} // namespace

std::string pack_failure(const failures::RankFailure& note) {
  store::WireWriter packed(k_mark);
  packed.number(note.attempt);
  packed.number(note.of_launcher ? 1 : 0);
  packed.number(note.rank);
  packed.number(note.local_rank);
  packed.text(note.host);
  packed.number(static_cast<unsigned long long>(note.pid));
  packed.number(static_cast<unsigned long long>(note.status));
  packed.text(note.gpu);
  packed.number(static_cast<unsigned long long>(note.seconds * 1000));
  packed.number(note.out_of_memory ? 1 : 0);
  packed.text(note.memory);
  packed.text(note.gpu_fault);
  packed.number(note.last_lines.size());
  for (const auto& line : note.last_lines) packed.text(line);
  packed.text(note.message);
  packed.text(note.traceback);
  packed.number(static_cast<unsigned long long>(note.reported_at));
  packed.number(static_cast<unsigned long long>(note.reported_age));
  packed.number(note.cut_short ? 1 : 0);
  return packed.take();
}

std::optional<failures::RankFailure> unpack_failure(std::string_view bytes) {
  store::WireReader unpacked(bytes, k_mark);
  failures::RankFailure note;
  note.attempt = static_cast<unsigned>(unpacked.number());
  note.of_launcher = unpacked.number(1) == 1;
  note.rank = static_cast<unsigned>(unpacked.number());
  note.local_rank = static_cast<unsigned>(unpacked.number());
  note.host = unpacked.text();
  note.pid = static_cast<std::int64_t>(unpacked.number(1ULL << 32));
  note.status = static_cast<int>(unpacked.number(0xffff));
  note.gpu = unpacked.text();
  note.seconds = static_cast<double>(unpacked.number(~0ULL)) / 1000;
  note.out_of_memory = unpacked.number(1) == 1;
  note.memory = unpacked.text();
  note.gpu_fault = unpacked.text();
  for (auto left = unpacked.count(); left > 0 && unpacked.good; --left)
    note.last_lines.emplace_back(unpacked.text());
  note.message = unpacked.text();
  note.traceback = unpacked.text();
  note.reported_at = static_cast<std::int64_t>(unpacked.number(1ULL << 40));
  note.reported_age = static_cast<std::int64_t>(unpacked.number(1ULL << 40));
  note.cut_short = unpacked.number(1) == 1;
  if (!unpacked.whole()) return std::nullopt;
  return note;
}

} // namespace hpcml::agent
