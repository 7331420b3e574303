"""What LittleGolem sends, read: text records, JSON records, results, and the pages they came in."""
