// JSON: the header of a certificate, and the lists of numbers that its claims are.
#pragma once

#include <map>

#include "text.hpp"

namespace ptcheck {

struct Json {
    enum Kind { kNull, kOther, kWhole, kText, kList, kObject };
    Kind kind = kNull;
    i64 number = 0;
    string text;
    vector<Json> list;
    std::map<string, Json> fields;

    i64 whole(i64 least = 0, i64 most = kMostCost - 1) const;
    const string& word() const;
    const vector<Json>& items() const;
};

// Reads JSON from a text, value by value.
class JsonReader {
  public:
    JsonReader(const string& data, size_t begin, size_t end) : data_(data), at_(begin), end_(end) {}

    Json value(int depth = 0);
    // Whether there is such a character next; it is passed then.
    bool passes(char c);
    void expect(char c) { need(passes(c), "the certificate is not of the format"); }
    // A whole number from 0 to what is allowed.
    i64 whole(i64 most = kMostCost - 1);
    void end() {
        skip();
        need(at_ == end_, "a line of the certificate has more than it should");
    }

  private:
    void skip();
    Json number();
    string word();
    unsigned escaped();
    bool has(const char* text);

    const string& data_;
    size_t at_, end_;
};

}  // namespace ptcheck
