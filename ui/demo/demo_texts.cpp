#include "ui/demo/demo_texts.h"

namespace quern::ui {

const char* const kDemoAnswer =
    R"(A **hand mill** grinds grain between two stones: the lower one lies still, the upper one turns.

## How to set the gap

1. Lift the runner stone with the wooden wedge.
2. Pour in a handful of grain and turn *slowly*.
3. Lower it until the flour feels like fine sand; for bread, `0.3 mm` is a good start.

```python
def flour(grain_kg: float, losses: float = 0.02) -> float:
    """Kilograms of flour that come out."""
    return grain_kg * (1 - losses)

print(f"{flour(2.5):.2f} kg")
```

| Grain | Gap | Turns a minute |
|:------|----:|:--------------:|
| Wheat | 0.3 mm | 60 |
| Rye | 0.4 mm | 55 |
| Oats | 0.6 mm | 45 |

> Dress the stones before the harvest, not after it.
)";

const char* const kDemoShort =
    R"(Yes. A sharp pair of stones heats the flour less, so more of its scent stays. You can tell by
touch: if the flour leaves the mill warmer than your hand, the furrows are due for a dressing.

- Basalt keeps its edge for about **two tonnes** of wheat.
- Sandstone needs it twice as often, and leaves grit.)";

const char* const kDemoLong =
    R"(The oldest querns are saddle stones: a slab, worn hollow by years of pushing a second stone to and
fro across it. Turning instead of pushing came later, and it changed who could grind, how much, and
where. A rotary quern asks for a pivot and two stones that were made for each other; in return it
lets one person do in an hour what took a morning.

### What the furrows do

The furrows cut the husk, carry the meal outward and let air in. Their angle matters more than their
depth: too steep, and the grain leaves before it is ground; too flat, and it stays and warms.)";

const char* const kDemoThought =
    R"(The question has two halves: whether sharpness matters at all, and what that means for stones
that are over a hundred years old.

- A dull stone rubs instead of cutting, so the flour gets **warm**.
- Stones from 1911 are likely basalt lava; check `furrow depth` first, then the gap.

Keep the answer short, and give one thing that can be checked by hand.)";

const char* const kDemoCall =
    R"(<think>
The mill's own log has the temperature; there is a tool for it.
</think>

Let me look at how warm the flour was in the last runs.

<tool_call>
{"name": "read_mill_log", "arguments": {"mill": "hand mill, 1911", "last_runs": 3, "columns": ["gap_mm", "flour_celsius"]}}
</tool_call>)";

}  // namespace quern::ui
