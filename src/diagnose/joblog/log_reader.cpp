// SPDX-License-Identifier: MIT
#include "diagnose/joblog/log_reader.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace hpcml::joblog {

namespace {

constexpr std::size_t k_piece = 1U << 20U;

} // namespace

void LogReader::add(std::string_view piece) {
  const auto before = x_rest.size();
  x_rest += piece;
  const auto end = piece.rfind('\n');
  if (end == std::string_view::npos && x_rest.size() < k_piece) return;
  const auto whole =
      end == std::string_view::npos ? x_rest.size() : before + end + 1; // of an endless line its pieces
  read_block(std::string_view(x_rest).substr(0, whole));
  x_rest.erase(0, whole);
}

void LogReader::end() {
  read_block(x_rest);
  x_rest.clear();
  x_cutter.end([&](std::uint64_t number, std::string_view line) {
    x_failures.begin_block(line);
    x_first_errors.begin_block(line);
    read_line(number, line, true);
  });
}

void LogReader::read_block(std::string_view block) {
  x_failures.begin_block(block);
  x_first_errors.begin_block(block);
  const bool nccl = block.find("NCCL ") != std::string_view::npos;
  x_cutter.add(block, [&](std::uint64_t number, std::string_view line) { read_line(number, line, nccl); });
}

void LogReader::read_line(std::uint64_t number, std::string_view line, bool nccl) {
  if (nccl)
    if (const auto networks = parse_nccl_line(line)) x_networks.read(number, *networks);
  if (x_failures.is_worth()) x_failures.read(number, line);
  if (x_first_errors.is_worth()) x_first_errors.read(number, line);
}

std::vector<LogFailure> LogReader::failures() const {
  auto list = x_failures.found();
  if (x_failures.has_cause()) return list;
  const auto first = x_first_errors.found();
  list.insert(list.begin(), first.begin(), first.end());
  return list;
}

util::Status read_log(int fd, LogReader& reading) {
  std::string piece(k_piece, '\0');
  for (;;) {
    const auto got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return util::Error{std::strerror(errno)};
    if (got == 0) break;
    reading.add(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
  }
  reading.end();
  return util::Success{};
}

LogReport make_report(const std::string& name, const LogReader& reading, const SiteNetwork& site) {
  return {name, reading.lines(), evaluate_networks(reading.networks(), site), reading.failures()};
}

} // namespace hpcml::joblog
