#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::engine {

/// The members of a JSON object in the order of the text, as nlohmann::basic_json takes them. The
/// library's own ordered map looks at all names for each: a file of 200 000 names holds it up for
/// minutes. Here a name is found among n in log n, whatever names a file chose. One thread.
template <class Key, class Value, class = std::less<>,
          class Allocator = std::allocator<std::pair<const Key, Value>>>
class JsonMembers {
    using List = std::vector<std::pair<const Key, Value>, Allocator>;

public:
    using key_type = Key;
    using mapped_type = Value;
    using key_compare = std::less<>;
    using value_type = typename List::value_type;
    using size_type = typename List::size_type;
    using difference_type = typename List::difference_type;
    using iterator = typename List::iterator;
    using const_iterator = typename List::const_iterator;

    JsonMembers() = default;
    template <class Iterator>
    JsonMembers(Iterator first, Iterator last) {
        insert(first, last);
    }
    JsonMembers(std::initializer_list<value_type> members)
        : JsonMembers(members.begin(), members.end()) {}
    JsonMembers(const JsonMembers& other) : m_list(other.m_list) { makeIndex(); }
    JsonMembers(JsonMembers&&) noexcept = default;
    JsonMembers& operator=(const JsonMembers& other) { return *this = JsonMembers(other); }
    JsonMembers& operator=(JsonMembers&&) noexcept = default;
    ~JsonMembers() = default;

    [[nodiscard]] iterator begin() noexcept { return m_list.begin(); }
    [[nodiscard]] iterator end() noexcept { return m_list.end(); }
    [[nodiscard]] const_iterator begin() const noexcept { return m_list.begin(); }
    [[nodiscard]] const_iterator end() const noexcept { return m_list.end(); }
    [[nodiscard]] const_iterator cbegin() const noexcept { return m_list.begin(); }
    [[nodiscard]] const_iterator cend() const noexcept { return m_list.end(); }
    [[nodiscard]] bool empty() const noexcept { return m_list.empty(); }
    [[nodiscard]] size_type size() const noexcept { return m_list.size(); }
    [[nodiscard]] size_type max_size() const noexcept { return m_list.max_size(); }

    [[nodiscard]] iterator find(std::string_view name) {
        return m_list.begin() + static_cast<difference_type>(placeOf(name));
    }
    [[nodiscard]] const_iterator find(std::string_view name) const {
        return m_list.begin() + static_cast<difference_type>(placeOf(name));
    }
    [[nodiscard]] size_type count(std::string_view name) const {
        return placeOf(name) < m_list.size() ? 1 : 0;
    }

    /// The member of that name, and whether it is new.
    template <class Name, class... Given>
    std::pair<iterator, bool> emplace(Name&& name, Given&&... value) {
        const size_type place = placeOf(name);
        const bool isNew = place == m_list.size();
        if (isNew) {
            m_list.emplace_back(std::piecewise_construct,
                                std::forward_as_tuple(std::forward<Name>(name)),
                                std::forward_as_tuple(std::forward<Given>(value)...));
            if (m_index) {
                m_index->emplace(m_list.back().first, place);
            } else {
                makeIndex();
            }
        }
        return {m_list.begin() + static_cast<difference_type>(place), isNew};
    }
    template <class Name>
    Value& operator[](Name&& name) {
        return emplace(std::forward<Name>(name), nullptr).first->second;
    }
    std::pair<iterator, bool> insert(const value_type& member) {
        return emplace(member.first, member.second);
    }
    template <class Iterator>
    void insert(Iterator first, Iterator last) {
        for (; first != last; ++first) {
            emplace(first->first, first->second);
        }
    }

    /// Takes the time of all members: nobody here removes any. Returns what stood behind.
    iterator erase(iterator at) {
        const auto place = at - m_list.begin();
        List kept;
        kept.reserve(m_list.size());
        for (iterator member = m_list.begin(); member != m_list.end(); ++member) {
            if (member != at) {
                kept.push_back(std::move(*member));
            }
        }
        m_list = std::move(kept);
        m_index.reset();
        makeIndex();
        return m_list.begin() + place;
    }

    void clear() noexcept {
        m_list.clear();
        m_index.reset();
    }

    friend bool operator==(const JsonMembers& a, const JsonMembers& b) {
        return a.m_list == b.m_list;
    }
    friend bool operator<(const JsonMembers& a, const JsonMembers& b) {
        return a.m_list < b.m_list;
    }

private:
    static constexpr size_type kFew = 16;  // of so many each may be looked at

    /// Where a member stands; the number of members where it does not.
    [[nodiscard]] size_type placeOf(std::string_view name) const {
        if (m_index) {
            const auto found = m_index->find(name);
            return found == m_index->end() ? m_list.size() : found->second;
        }
        size_type place = 0;
        while (place < m_list.size() && m_list[place].first != name) {
            ++place;
        }
        return place;
    }

    void makeIndex() {
        if (m_list.size() <= kFew) {
            return;
        }
        m_index = std::make_unique<std::map<Key, size_type, std::less<>>>();
        for (size_type place = 0; place < m_list.size(); ++place) {
            m_index->emplace(m_list[place].first, place);
        }
    }

    List m_list;
    std::unique_ptr<std::map<Key, size_type, std::less<>>> m_index;  // null for few
};

}  // namespace quern::engine
