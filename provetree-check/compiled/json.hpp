// Reads the lines of a certificate: JSON without spaces, of texts, whole numbers and lists of them.
#pragma once

#include "text.hpp"

namespace ptcheck {

// Reads a part of a text from its begin to its end; whatever else stands there is refused.
class JsonReader {
  public:
    JsonReader(const string& data, size_t begin, size_t end) : data_(data), at_(begin), end_(end) {}

    // Whether these characters come next; they are passed then.
    bool passes(const char* text);
    void expect(const char* text) { need(passes(text), "it is not of the form"); }
    i64 whole(i64 most = kMostCost - 1, i64 least = 0);
    string word();
    // A list, item by item.
    template <class Read>
    void list(const Read& read) {
        expect("[");
        if (passes("]")) return;
        do read();
        while (passes(","));
        expect("]");
    }
    void end() const { need(at_ == end_, "it is not of the form"); }

  private:
    unsigned escaped();

    const string& data_;
    size_t at_, end_;
};

}  // namespace ptcheck
