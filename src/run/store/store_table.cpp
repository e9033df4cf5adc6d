// SPDX-License-Identifier: MIT
#include "run/store/store_table.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace hpcml::store {

namespace {

constexpr std::string_view k_stop_waiting("\0", 1), k_wait_cancelled("\1", 1);
constexpr std::string_view k_all_there("\0", 1), k_not_there("\1", 1);

/// Returns the memory of a key that a client waits for: it is kept twice, each time with what refers to it.
std::uint64_t wait_cost(std::string_view key) { return 200 + 2 * key.size(); }

void answer_number(ClientId client, std::uint64_t number, AnswerSink& answers) {
  std::string bytes;
  put_u64(bytes, number);
  answers.bytes(client, bytes);
}

void answer_bytes(ClientId client, std::string_view value, AnswerSink& answers) {
  std::string bytes;
  put_bytes(bytes, value);
  answers.bytes(client, bytes);
}

} // namespace

const std::string* StoreTable::find(std::string_view key) const {
  const auto found = x_values.find(key);
  return found == x_values.end() ? nullptr : found->second.get();
}

std::size_t StoreTable::queue_length(std::string_view key) const {
  const auto found = x_queues.find(key);
  return found == x_queues.end() ? 0 : found->second.size();
}

bool StoreTable::has_key(std::string_view key) const { return find(key) || queue_length(key) != 0; }

bool StoreTable::all_there(const std::vector<std::string_view>& keys) const {
  return std::all_of(keys.begin(), keys.end(), [&](std::string_view key) { return has_key(key); });
}

std::string StoreTable::room_for(std::uint64_t more, std::uint64_t less) const {
  if (x_bytes - less + more <= x_most_bytes) return {};
  return fmt::format("the store is full: its values exceed the limit ({} bytes)", x_most_bytes);
}

std::string StoreTable::store(std::string_view key, std::string_view value) {
  const auto found = x_values.find(key);
  const std::uint64_t less = found == x_values.end() ? 0 : key.size() + found->second->size();
  if (std::string full = room_for(key.size() + value.size(), less); !full.empty()) return full;
  x_bytes += key.size() + value.size() - less;
  auto held = std::make_shared<std::string>(value);
  if (found == x_values.end())
    x_values.emplace(key, std::move(held));
  else
    found->second = std::move(held);
  return {};
}

std::string StoreTable::append(std::string_view key, std::string_view value) {
  const auto found = x_values.find(key);
  if (found == x_values.end()) return store(key, value);
  if (std::string full = room_for(value.size(), 0); !full.empty()) return full;
  x_bytes += value.size();
  if (found->second.use_count() > 1) found->second = std::make_shared<std::string>(*found->second);
  found->second->append(value);
  return {};
}

std::string StoreTable::compare_set(ClientId client, const TcpStoreMessage& message, AnswerSink& answers) {
  const std::string_view key = message.keys[0], expected = message.values[0], desired = message.values[1];
  const std::string* now = find(key);
  if (now ? *now == expected : expected.empty()) {
    if (std::string full = store(key, desired); !full.empty()) return full;
    now = find(key);
  }
  // A client that waits for an existing key was overtaken by a deletion; libuv's server wakes it here.
  if (now) wake_all(key, answers);
  answer_bytes(client, now ? std::string_view(*now) : expected, answers);
  return {};
}

/// add and barrier: both count in decimal under a key.
std::string StoreTable::count(ClientId client, const TcpStoreMessage& message, AnswerSink& answers) {
  const std::string_view key = message.keys[0];
  const bool barrier = message.op == StoreOpcode::barrier;
  std::uint64_t sum = barrier ? 1 : static_cast<std::uint64_t>(message.number);
  if (const std::string* now = find(key)) {
    const auto before = parse_counter(*now);
    if (!before) return "the value to increment is not a number";
    sum += static_cast<std::uint64_t>(*before); // wraps around, as torch's does
  }
  const auto total = static_cast<std::int64_t>(sum);
  if (std::string full = store(key, std::to_string(total)); !full.empty()) return full;
  if (!barrier) {
    wake_all(key, answers);
    answer_number(client, sum, answers);
  } else if (total >= message.number) {
    wake_all(key, answers);
    answers.bytes(client, k_stop_waiting);
  } else {
    const std::uint64_t bytes = wait_cost(key);
    if (std::string full = room_for_wait(bytes); !full.empty()) return full;
    x_listed[std::string(key)].push_back(client);
    Wait& wait = x_waits[client];
    x_wait_bytes += bytes - wait.bytes;
    wait = {1, bytes, {std::string(key)}};
  }
  return {};
}

std::string StoreTable::push(std::string_view key, std::string_view value, AnswerSink& answers) {
  if (std::string full = room_for(value.size(), 0); !full.empty()) return full;
  x_bytes += value.size();
  auto queue = x_queues.find(key);
  if (queue == x_queues.end()) queue = x_queues.emplace(key, std::deque<Held>{}).first;
  queue->second.push_back(std::make_shared<std::string>(value));
  wake_one(key, answers);
  return {};
}

void StoreTable::pop(ClientId client, std::string_view key, AnswerSink& answers) {
  answer_number(client, queue_length(key), answers);
  const auto queue = x_queues.find(key);
  if (queue == x_queues.end()) return;
  const Held value = std::move(queue->second.front());
  queue->second.pop_front();
  if (queue->second.empty()) x_queues.erase(queue);
  x_bytes -= value->size();
  answer_number(client, value->size(), answers);
  answers.value(client, value);
}

void StoreTable::list(ClientId client, AnswerSink& answers) const {
  std::string bytes;
  put_u64(bytes, x_values.size());
  for (const auto& [key, value] : x_values) put_bytes(bytes, key);
  answers.bytes(client, bytes);
}

void StoreTable::answer_value(ClientId client, std::string_view key, AnswerSink& answers) const {
  const auto found = x_values.find(key);
  answer_number(client, found == x_values.end() ? 0 : found->second->size(), answers);
  if (found != x_values.end()) answers.value(client, found->second);
}

std::string StoreTable::get(ClientId client, ProtocolDialect dialect, const TcpStoreMessage& message,
                            AnswerSink& answers) const {
  // torch 1.13's server drops the connection here, and its clients count on nothing else.
  if (dialect == ProtocolDialect::torch1 && !find(message.keys[0]))
    return "it requested a key that does not exist";
  for (const std::string_view key : message.keys) answer_value(client, key, answers);
  return {};
}

std::string StoreTable::room_for_wait(std::uint64_t bytes) const {
  if (x_wait_bytes + bytes <= k_most_wait_bytes) return {};
  return fmt::format("the store is full: the keys that clients wait for exceed the limit ({} bytes)",
                     k_most_wait_bytes);
}

std::string StoreTable::begin_wait(ClientId client, const std::vector<std::string_view>& keys) {
  forget_waits(client);
  std::uint64_t bytes = 0;
  for (const std::string_view key : keys) bytes += wait_cost(key);
  if (std::string full = room_for_wait(bytes); !full.empty()) return full;
  x_wait_bytes += bytes;
  Wait wait;
  wait.bytes = bytes;
  for (const std::string_view key : keys) {
    if (has_key(key)) continue;
    auto listed = x_listed.find(key);
    if (listed == x_listed.end()) listed = x_listed.emplace(key, std::vector<ClientId>{}).first;
    listed->second.push_back(client);
    wait.keys.emplace_back(key);
    ++wait.missing;
  }
  x_waits[client] = std::move(wait);
  return {};
}

void StoreTable::forget_waits(ClientId client) {
  const auto wait = x_waits.find(client);
  if (wait == x_waits.end()) return;
  for (const std::string& key : wait->second.keys) {
    const auto listed = x_listed.find(key);
    if (listed == x_listed.end()) continue;
    std::erase(listed->second, client);
    if (listed->second.empty()) x_listed.erase(listed);
  }
  end_wait(wait);
}

void StoreTable::wake_all(std::string_view key, AnswerSink& answers) {
  const auto listed = x_listed.find(key);
  if (listed == x_listed.end()) return;
  const std::vector<ClientId> clients = std::move(listed->second);
  x_listed.erase(listed);
  for (const ClientId client : clients) {
    const auto wait = x_waits.find(client);
    if (wait == x_waits.end() || --wait->second.missing != 0) continue;
    end_wait(wait);
    answers.bytes(client, k_stop_waiting);
  }
}

/// A queue's new element is for one: the first whom nothing else keeps.
void StoreTable::wake_one(std::string_view key, AnswerSink& answers) {
  const auto listed = x_listed.find(key);
  if (listed == x_listed.end()) return;
  std::vector<ClientId>& clients = listed->second;
  ClientId woken = 0;
  bool found = false;
  while (!clients.empty() && !found) {
    const auto wait = x_waits.find(clients.front());
    found = wait != x_waits.end() && --wait->second.missing == 0;
    woken = clients.front();
    clients.erase(clients.begin());
  }
  if (clients.empty()) x_listed.erase(listed);
  if (!found) return;
  forget_waits(woken);
  answers.bytes(woken, k_stop_waiting);
}

std::vector<std::string> StoreTable::awaited_by(ClientId client) const {
  const auto wait = x_waits.find(client);
  if (wait == x_waits.end()) return {};
  std::vector<std::string> keys;
  for (const std::string& key : wait->second.keys) {
    const auto listed = x_listed.find(key);
    if (listed != x_listed.end() && std::ranges::count(listed->second, client) != 0) keys.push_back(key);
  }
  return keys;
}

std::vector<ClientId> StoreTable::waiting() const {
  std::vector<ClientId> clients;
  for (const auto& [client, wait] : x_waits) clients.push_back(client);
  return clients;
}

std::string StoreTable::apply(ClientId client, ProtocolDialect dialect, const TcpStoreMessage& message,
                              AnswerSink& answers) {
  const auto set = [&](std::size_t i) {
    std::string full = store(message.keys[i], message.values[i]);
    if (full.empty()) wake_all(message.keys[i], answers);
    return full;
  };
  switch (message.op) {
  case StoreOpcode::validate: return "it sent a second handshake";
  case StoreOpcode::set: return set(0);
  case StoreOpcode::compare_set: return compare_set(client, message, answers);
  case StoreOpcode::get:
  case StoreOpcode::multi_get: return get(client, dialect, message, answers);
  case StoreOpcode::add:
  case StoreOpcode::barrier: return count(client, message, answers);
  case StoreOpcode::check:
    answers.bytes(client, all_there(message.keys) ? k_all_there : k_not_there);
    return {};
  case StoreOpcode::wait:
    if (!all_there(message.keys)) return begin_wait(client, message.keys);
    answers.bytes(client, k_stop_waiting);
    return {};
  case StoreOpcode::get_num_keys: answer_number(client, x_values.size(), answers); return {};
  case StoreOpcode::delete_key: {
    const auto found = x_values.find(message.keys[0]);
    const bool exists = found != x_values.end();
    if (exists) {
      x_bytes -= found->first.size() + found->second->size();
      x_values.erase(found);
    }
    answer_number(client, exists, answers);
    return {};
  }
  case StoreOpcode::append: {
    std::string full = append(message.keys[0], message.values[0]);
    if (full.empty()) wake_all(message.keys[0], answers);
    return full;
  }
  case StoreOpcode::multi_set:
    for (std::size_t i = 0; i < message.keys.size(); ++i)
      if (std::string full = set(i); !full.empty()) return full;
    return {};
  case StoreOpcode::cancel_wait:
    forget_waits(client);
    answers.bytes(client, k_wait_cancelled);
    return {};
  case StoreOpcode::ping: {
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(message.number >> (8 * i)));
    answers.bytes(client, bytes);
    return {};
  }
  case StoreOpcode::queue_push: return push(message.keys[0], message.values[0], answers);
  case StoreOpcode::queue_pop: pop(client, message.keys[0], answers); return {};
  case StoreOpcode::queue_len: answer_number(client, queue_length(message.keys[0]), answers); return {};
  case StoreOpcode::list_keys: list(client, answers); return {};
  }
  return "it requested an unknown operation";
}

} // namespace hpcml::store
