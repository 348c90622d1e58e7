<?xml version='1.0' encoding='utf-8'?>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>ChatScreen</name>
    <message>
        <source>Inspector (Ctrl+I)</source>
        <translation>[Îñšpéçtör (Çtrl+Î)······]</translation>
    </message>
</context>
<context>
    <name>ChatWelcome</name>
    <message>
        <source>What shall we grind?</source>
        <translation>[Whàt šhàll wé grîñd?······]</translation>
    </message>
    <message>
        <source>One moment</source>
        <translation>[Öñé möméñt···]</translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation>[Ñö mödél îš löàdéd······]</translation>
    </message>
    <message>
        <source>%1 runs on this machine. Nothing you write leaves it.</source>
        <translation>[%1 rúñš öñ thîš màçhîñé. Ñöthîñg ýöú wrîté léàvéš ît.·················]</translation>
    </message>
    <message>
        <source>You can write already. The message can be sent once the model is ready.</source>
        <translation>[Ýöú çàñ wrîté àlréàdý. Thé méššàgé çàñ bé šéñt öñçé thé mödél îš réàdý.·······················]</translation>
    </message>
    <message>
        <source>Choose one that fits the memory that is free now.</source>
        <translation>[Çhööšé öñé thàt fîtš thé mémörý thàt îš fréé ñöw.················]</translation>
    </message>
    <message>
        <source>Drop a .gguf file on this window, or open one.</source>
        <translation>[Dröp à .ggúf fîlé öñ thîš wîñdöw, ör öpéñ öñé.···············]</translation>
    </message>
    <message>
        <source>Explain how a hand mill works</source>
        <translation>[Éxplàîñ höw à hàñd mîll wörkš·········]</translation>
    </message>
    <message>
        <source>Write a haiku about rain</source>
        <translation>[Wrîté à hàîkú àböút ràîñ········]</translation>
    </message>
    <message>
        <source>A regular expression for dates</source>
        <translation>[À régúlàr éxpréššîöñ för dàtéš··········]</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>[Löàd·]</translation>
    </message>
    <message>
        <source>All models</source>
        <translation>[Àll mödélš···]</translation>
    </message>
    <message>
        <source>Open a model file…</source>
        <translation>[Öpéñ à mödél fîlé…······]</translation>
    </message>
</context>
<context>
    <name>CodeBlock</name>
    <message>
        <source>Code</source>
        <translation>[Çödé·]</translation>
    </message>
    <message>
        <source>Code in %1</source>
        <translation>[Çödé îñ %1···]</translation>
    </message>
    <message>
        <source>Copy code</source>
        <translation>[Çöpý çödé···]</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Editing your message: sending makes a new branch.</source>
        <translation>[Édîtîñg ýöúr méššàgé: šéñdîñg màkéš à ñéw bràñçh.················]</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>[Çàñçél··]</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>[Méššàgé··]</translation>
    </message>
    <message>
        <source>Write to %1</source>
        <translation>[Wrîté tö %1···]</translation>
    </message>
    <message>
        <source>Write already: it can be sent once the model is ready</source>
        <translation>[Wrîté àlréàdý: ît çàñ bé šéñt öñçé thé mödél îš réàdý·················]</translation>
    </message>
    <message>
        <source>Load a model to send</source>
        <translation>[Löàd à mödél tö šéñd······]</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>[Štöp·]</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>[Éšç·]</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>[Šéñd·]</translation>
    </message>
</context>
<context>
    <name>ContextMeter</name>
    <message>
        <source>Context used: %1 tokens</source>
        <translation>[Çöñtéxt úšéd: %1 tökéñš·······]</translation>
    </message>
</context>
<context>
    <name>ConversationPane</name>
    <message>
        <source>Search conversations</source>
        <translation>[Šéàrçh çöñvéršàtîöñš······]</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>[Šéàrçh··]</translation>
    </message>
    <message>
        <source>New conversation (Ctrl+N)</source>
        <translation>[Ñéw çöñvéršàtîöñ (Çtrl+Ñ)········]</translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation>[Çöñvéršàtîöñš····]</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>[Réñàmé··]</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>[Délété··]</translation>
    </message>
    <message>
        <source>New name</source>
        <translation>[Ñéw ñàmé··]</translation>
    </message>
    <message>
        <source>Your conversations will be listed here.</source>
        <translation>[Ýöúr çöñvéršàtîöñš wîll bé lîštéd héré.·············]</translation>
    </message>
    <message>
        <source>Nothing matches.</source>
        <translation>[Ñöthîñg màtçhéš.·····]</translation>
    </message>
    <message>
        <source>Nothing here is saved: it lasts until this window is closed.</source>
        <translation>[Ñöthîñg héré îš šàvéd: ît làštš úñtîl thîš wîñdöw îš çlöšéd.····················]</translation>
    </message>
</context>
<context>
    <name>EngineCard</name>
    <message>
        <source>Loading %1</source>
        <translation>[Löàdîñg %1···]</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>[Ñö mödél löàdéd·····]</translation>
    </message>
</context>
<context>
    <name>Figure</name>
    <message>
        <source>unknown</source>
        <translation>[úñkñöwñ··]</translation>
    </message>
</context>
<context>
    <name>FitChip</name>
    <message>
        <source>Fits</source>
        <translation>[Fîtš·]</translation>
    </message>
    <message>
        <source>Tight</source>
        <translation>[Tîght·]</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>[Döéš ñöt fît····]</translation>
    </message>
</context>
<context>
    <name>FitWords</name>
    <message>
        <source>weights</source>
        <translation>[wéîghtš··]</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>[KV çàçhé··]</translation>
    </message>
    <message>
        <source>scratch</source>
        <translation>[šçràtçh··]</translation>
    </message>
    <message>
        <source>tokenizer</source>
        <translation>[tökéñîzér···]</translation>
    </message>
    <message>
        <source>margin, left to other programs</source>
        <translation>[màrgîñ, léft tö öthér prögràmš··········]</translation>
    </message>
</context>
<context>
    <name>Inspector</name>
    <message>
        <source>System prompt</source>
        <translation>[Šýštém prömpt····]</translation>
    </message>
    <message>
        <source>None</source>
        <translation>[Ñöñé·]</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>[Šàmplîñg··]</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>[Témpéràtúré···]</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>[Töp-p·]</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>[Töp-k·]</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>[Mîñ-p·]</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>[Répétîtîöñ péñàltý······]</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>[Šééd·]</translation>
    </message>
    <message>
        <source>drawn</source>
        <translation>[dràwñ·]</translation>
    </message>
    <message>
        <source>Most tokens</source>
        <translation>[Möšt tökéñš···]</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>[ñö lîmît··]</translation>
    </message>
    <message>
        <source>Your values</source>
        <translation>[Ýöúr vàlúéš···]</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>[Réšét·]</translation>
    </message>
    <message>
        <source>Prompt as sent</source>
        <translation>[Prömpt àš šéñt····]</translation>
    </message>
    <message>
        <source>Shown after the next message.</source>
        <translation>[Šhöwñ àftér thé ñéxt méššàgé.·········]</translation>
    </message>
    <message>
        <source>Set for this model</source>
        <translation>[Šét för thîš mödél······]</translation>
    </message>
</context>
<context>
    <name>KvMapCard</name>
    <message>
        <source>KV cache</source>
        <translation>[KV çàçhé··]</translation>
    </message>
    <message>
        <source>Block group</source>
        <translation>[Blöçk gröúp···]</translation>
    </message>
    <message>
        <source>shared</source>
        <translation>[šhàréd··]</translation>
    </message>
    <message>
        <source>sequence</source>
        <translation>[šéqúéñçé··]</translation>
    </message>
    <message>
        <source>cached, evictable</source>
        <translation>[çàçhéd, évîçtàblé·····]</translation>
    </message>
    <message>
        <source>free</source>
        <translation>[fréé·]</translation>
    </message>
    <message>
        <source>Map of the KV cache</source>
        <translation>[Màp öf thé KV çàçhé······]</translation>
    </message>
    <message>
        <source>The cache of a loaded model is drawn here, block by block.</source>
        <translation>[Thé çàçhé öf à löàdéd mödél îš dràwñ héré, blöçk bý blöçk.···················]</translation>
    </message>
    <message>
        <source>Order of the blocks</source>
        <translation>[Ördér öf thé blöçkš······]</translation>
    </message>
    <message>
        <source>By place</source>
        <translation>[Bý plàçé··]</translation>
    </message>
    <message>
        <source>By sequence</source>
        <translation>[Bý šéqúéñçé···]</translation>
    </message>
</context>
<context>
    <name>LoadSheetView</name>
    <message>
        <source>Load %1</source>
        <translation>[Löàd %1··]</translation>
    </message>
    <message>
        <source>Context, in tokens (at most %1)</source>
        <translation>[Çöñtéxt, îñ tökéñš (àt möšt %1)··········]</translation>
    </message>
    <message>
        <source>Context, in tokens</source>
        <translation>[Çöñtéxt, îñ tökéñš······]</translation>
    </message>
    <message>
        <source>KV cache, in MiB (empty: chosen from free memory)</source>
        <translation>[KV çàçhé, îñ MîB (émptý: çhöšéñ fröm fréé mémörý)················]</translation>
    </message>
    <message>
        <source>KV cache, in MiB</source>
        <translation>[KV çàçhé, îñ MîB·····]</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>[àútö·]</translation>
    </message>
    <message>
        <source>KV cache type</source>
        <translation>[KV çàçhé týpé····]</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>[Àçtîvàtîöñš···]</translation>
    </message>
    <message>
        <source>Total</source>
        <translation>[Tötàl·]</translation>
    </message>
    <message>
        <source>%1 of %2 free</source>
        <translation>[%1 öf %2 fréé····]</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>[Çàñçél··]</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>[Löàd·]</translation>
    </message>
</context>
<context>
    <name>LoadStrip</name>
    <message>
        <source>Loading %1: %2, %3 %</source>
        <translation>[Löàdîñg %1: %2, %3 %······]</translation>
    </message>
    <message>
        <source>Loading %1</source>
        <translation>[Löàdîñg %1···]</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>[%1 %·]</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>[Çàñçél··]</translation>
    </message>
</context>
<context>
    <name>LoadedCard</name>
    <message>
        <source>Loaded: %1</source>
        <translation>[Löàdéd: %1···]</translation>
    </message>
    <message>
        <source>loaded, chats use it</source>
        <translation>[löàdéd, çhàtš úšé ît······]</translation>
    </message>
    <message>
        <source>loaded</source>
        <translation>[löàdéd··]</translation>
    </message>
    <message>
        <source>Use in chats</source>
        <translation>[Úšé îñ çhàtš····]</translation>
    </message>
    <message>
        <source>Unloading…</source>
        <translation>[Úñlöàdîñg…···]</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>[Úñlöàd··]</translation>
    </message>
    <message>
        <source>Estimated</source>
        <translation>[Éštîmàtéd···]</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>[Méàšúréd··]</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>[Çöñtéxt··]</translation>
    </message>
    <message>
        <source>Loaded in</source>
        <translation>[Löàdéd îñ···]</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>[%1 š·]</translation>
    </message>
</context>
<context>
    <name>Main</name>
    <message>
        <source>Quern</source>
        <translation>[Qúérñ·]</translation>
    </message>
    <message>
        <source>Monitor: %1 running</source>
        <translation>[Möñîtör: %1 rúññîñg······]</translation>
    </message>
    <message>
        <source>loading %1</source>
        <translation>[löàdîñg %1···]</translation>
    </message>
</context>
<context>
    <name>MessageBar</name>
    <message>
        <source>Dismiss</source>
        <translation>[Dîšmîšš··]</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <comment>messages behind this one</comment>
        <translation>
            <numerusform>[%n möré··]</numerusform>
            <numerusform>[%n möré··]</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ModelCard</name>
    <message>
        <source>Size</source>
        <translation>[Šîzé·]</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>[Çöñtéxt··]</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>[Lîçéñçé··]</translation>
    </message>
    <message>
        <source>From</source>
        <translation>[Fröm·]</translation>
    </message>
    <message>
        <source>loaded</source>
        <translation>[löàdéd··]</translation>
    </message>
    <message>
        <source>Forget</source>
        <translation>[Förgét··]</translation>
    </message>
    <message>
        <source>Takes it off this list. The file stays.</source>
        <translation>[Tàkéš ît öff thîš lîšt. Thé fîlé štàýš.·············]</translation>
    </message>
    <message>
        <source>Add in place</source>
        <translation>[Àdd îñ plàçé····]</translation>
    </message>
    <message>
        <source>Uses the file where it is, without a copy.</source>
        <translation>[Úšéš thé fîlé whéré ît îš, wîthöút à çöpý.··············]</translation>
    </message>
    <message>
        <source>Load anew…</source>
        <translation>[Löàd àñéw…···]</translation>
    </message>
    <message>
        <source>Load…</source>
        <translation>[Löàd…·]</translation>
    </message>
    <message>
        <source>Load %1</source>
        <translation>[Löàd %1··]</translation>
    </message>
</context>
<context>
    <name>ModelsScreen</name>
    <message>
        <source>Models</source>
        <translation>[Mödélš··]</translation>
    </message>
    <message>
        <source>Look again</source>
        <translation>[Löök àgàîñ···]</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>[Öpéñ à fîlé…····]</translation>
    </message>
    <message>
        <source>On this machine</source>
        <translation>[Öñ thîš màçhîñé·····]</translation>
    </message>
    <message>
        <source>No models yet</source>
        <translation>[Ñö mödélš ýét····]</translation>
    </message>
    <message>
        <source>Drop a .gguf file on this window, open one, or put it into %1.</source>
        <translation>[Dröp à .ggúf fîlé öñ thîš wîñdöw, öpéñ öñé, ör pút ît îñtö %1.····················]</translation>
    </message>
    <message>
        <source>Open a model</source>
        <translation>[Öpéñ à mödél····]</translation>
    </message>
    <message>
        <source>Models (*.gguf)</source>
        <translation>[Mödélš (*.gguf)·····]</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>[Àll fîléš (*)····]</translation>
    </message>
</context>
<context>
    <name>MonitorScreen</name>
    <message>
        <source>Monitor</source>
        <translation>[Möñîtör··]</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>[Pàúšéd··]</translation>
    </message>
    <message>
        <source>Live · 10 Hz</source>
        <translation>[Lîvé · 10 Hz····]</translation>
    </message>
    <message>
        <source>Space to go on</source>
        <translation>[Špàçé tö gö öñ····]</translation>
    </message>
    <message>
        <source>Space to pause</source>
        <translation>[Špàçé tö pàúšé····]</translation>
    </message>
    <message>
        <source>Decode</source>
        <translation>[Déçödé··]</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>[tök/š·]</translation>
    </message>
    <message>
        <source>Prefill</source>
        <translation>[Préfîll··]</translation>
    </message>
    <message>
        <source>TTFT p95</source>
        <translation>[TTFT p95··]</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>[mš]</translation>
    </message>
    <message>
        <source>ITL p95</source>
        <translation>[ÎTL p95··]</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>[Rúññîñg··]</translation>
    </message>
    <message>
        <source>+%1 waiting</source>
        <translation>[+%1 wàîtîñg···]</translation>
    </message>
    <message>
        <source>Prefix hits</source>
        <translation>[Préfîx hîtš···]</translation>
    </message>
    <message>
        <source>What is shown</source>
        <translation>[Whàt îš šhöwñ····]</translation>
    </message>
    <message>
        <source>Throughput</source>
        <translation>[Thröúghpút···]</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>[Réqúéštš··]</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>[Gö öñ·]</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>[Pàúšé·]</translation>
    </message>
</context>
<context>
    <name>QObject</name>
    <message>
        <source>The reply is shown but could not be saved.</source>
        <translation>[Thé réplý îš šhöwñ bút çöúld ñöt bé šàvéd.··············]</translation>
    </message>
    <message>
        <source>Save again</source>
        <translation>[Šàvé àgàîñ···]</translation>
    </message>
</context>
<context>
    <name>Rail</name>
    <message>
        <source>Chat</source>
        <translation>[Çhàt·]</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>[Mödélš··]</translation>
    </message>
    <message>
        <source>Monitor</source>
        <translation>[Möñîtör··]</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>[Šérvér··]</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>[Šéttîñgš··]</translation>
    </message>
    <message>
        <source>Ctrl+%1</source>
        <translation>[Çtrl+%1··]</translation>
    </message>
</context>
<context>
    <name>RefusalCard</name>
    <message>
        <source>This message does not fit the context any more.</source>
        <translation>[Thîš méššàgé döéš ñöt fît thé çöñtéxt àñý möré.···············]</translation>
    </message>
    <message>
        <source>Not sent.</source>
        <translation>[Ñöt šéñt.···]</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>[Dîšmîšš··]</translation>
    </message>
    <message>
        <source>Leave out the oldest turns</source>
        <translation>[Léàvé öút thé öldéšt túrñš········]</translation>
    </message>
    <message>
        <source>Raise the context…</source>
        <translation>[Ràîšé thé çöñtéxt…······]</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>[Ñéw çöñvéršàtîöñ·····]</translation>
    </message>
</context>
<context>
    <name>ReplyPhase</name>
    <message>
        <source>Queued: %1 in line</source>
        <translation>[Qúéúéd: %1 îñ lîñé······]</translation>
    </message>
    <message>
        <source>Reading the prompt: %1 %</source>
        <translation>[Réàdîñg thé prömpt: %1 %········]</translation>
    </message>
    <message>
        <source>Writing: %1 tok/s</source>
        <translation>[Wrîtîñg: %1 tök/š·····]</translation>
    </message>
    <message>
        <source>Preparing</source>
        <translation>[Prépàrîñg···]</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>[Wrîtîñg··]</translation>
    </message>
    <message>
        <source>Queued</source>
        <translation>[Qúéúéd··]</translation>
    </message>
</context>
<context>
    <name>RequestList</name>
    <message>
        <source>Requests</source>
        <translation>[Réqúéštš··]</translation>
    </message>
    <message>
        <source>Request</source>
        <translation>[Réqúéšt··]</translation>
    </message>
    <message>
        <source>From</source>
        <translation>[Fröm·]</translation>
    </message>
    <message>
        <source>State</source>
        <translation>[Štàté·]</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>[Prömpt··]</translation>
    </message>
    <message>
        <source>Written</source>
        <translation>[Wrîttéñ··]</translation>
    </message>
    <message>
        <source>Blocks</source>
        <translation>[Blöçkš··]</translation>
    </message>
    <message>
        <source>Hit, %</source>
        <translation>[Hît, %··]</translation>
    </message>
    <message>
        <source>Age, s</source>
        <translation>[Àgé, š··]</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>[tök/š·]</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>[wàîtîñg··]</translation>
    </message>
    <message>
        <source>prefill</source>
        <translation>[préfîll··]</translation>
    </message>
    <message>
        <source>decode</source>
        <translation>[déçödé··]</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>[pàúšéd··]</translation>
    </message>
    <message>
        <source>preempted</source>
        <translation>[préémptéd···]</translation>
    </message>
    <message>
        <source>Request %1, %2</source>
        <translation>[Réqúéšt %1, %2····]</translation>
    </message>
    <message>
        <source>Nothing runs and nothing waits.</source>
        <translation>[Ñöthîñg rúñš àñd ñöthîñg wàîtš.··········]</translation>
    </message>
    <message>
        <source>Cancel request %1 (Del)</source>
        <translation>[Çàñçél réqúéšt %1 (Dél)·······]</translation>
    </message>
</context>
<context>
    <name>ServerScreen</name>
    <message>
        <source>Server</source>
        <translation>[Šérvér··]</translation>
    </message>
    <message>
        <source>On</source>
        <translation>[Öñ]</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>[Öff·]</translation>
    </message>
    <message>
        <source>Other programs on this machine can use the loaded models through the OpenAI protocol.</source>
        <translation>[Öthér prögràmš öñ thîš màçhîñé çàñ úšé thé löàdéd mödélš thröúgh thé ÖpéñÀÎ prötöçöl.····························]</translation>
    </message>
    <message>
        <source>Connections</source>
        <translation>[Çöññéçtîöñš···]</translation>
    </message>
    <message>
        <source>Requests running</source>
        <translation>[Réqúéštš rúññîñg·····]</translation>
    </message>
    <message>
        <source>Requests served</source>
        <translation>[Réqúéštš šérvéd·····]</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>[Àddréšš··]</translation>
    </message>
    <message>
        <source>Copy address</source>
        <translation>[Çöpý àddréšš····]</translation>
    </message>
    <message>
        <source>Listen on</source>
        <translation>[Lîštéñ öñ···]</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>[Thîš màçhîñé····]</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>[Ñétwörk··]</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>[Pört·]</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>[Kéý·]</translation>
    </message>
    <message>
        <source>none: every program on this machine may use it</source>
        <translation>[ñöñé: évérý prögràm öñ thîš màçhîñé màý úšé ît···············]</translation>
    </message>
    <message>
        <source>New key</source>
        <translation>[Ñéw kéý··]</translation>
    </message>
    <message>
        <source>Copy key</source>
        <translation>[Çöpý kéý··]</translation>
    </message>
    <message>
        <source>Open to the network without a key: anybody who reaches this machine can use it.</source>
        <translation>[Öpéñ tö thé ñétwörk wîthöút à kéý: àñýbödý whö réàçhéš thîš màçhîñé çàñ úšé ît.··························]</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>[Trý ît··]</translation>
    </message>
    <message>
        <source>Example in</source>
        <translation>[Éxàmplé îñ···]</translation>
    </message>
    <message>
        <source>Switch the server off to change where it listens and its key.</source>
        <translation>[Šwîtçh thé šérvér öff tö çhàñgé whéré ît lîštéñš àñd îtš kéý.····················]</translation>
    </message>
</context>
<context>
    <name>SettingsScreen</name>
    <message>
        <source>Settings</source>
        <translation>[Šéttîñgš··]</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>[Àppéàràñçé···]</translation>
    </message>
    <message>
        <source>System</source>
        <translation>[Šýštém··]</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>[Lîght·]</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>[Dàrk·]</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>[Téxt šîzé···]</translation>
    </message>
    <message>
        <source>Less motion</source>
        <translation>[Léšš mötîöñ···]</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>[Mödélš földér····]</translation>
    </message>
    <message>
        <source>Copy the folder's path</source>
        <translation>[Çöpý thé földér'š pàth·······]</translation>
    </message>
    <message>
        <source>Keyboard</source>
        <translation>[Kéýböàrd··]</translation>
    </message>
    <message>
        <source>Show the shortcuts</source>
        <translation>[Šhöw thé šhörtçútš······]</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>[Véršîöñ··]</translation>
    </message>
</context>
<context>
    <name>ShortcutSheet</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>[Kéýböàrd šhörtçútš······]</translation>
    </message>
    <message>
        <source>Go to a screen</source>
        <translation>[Gö tö à šçrééñ····]</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>[Ñéw çöñvéršàtîöñ·····]</translation>
    </message>
    <message>
        <source>Search conversations</source>
        <translation>[Šéàrçh çöñvéršàtîöñš······]</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>[Mödélš··]</translation>
    </message>
    <message>
        <source>Inspector: sampling and system prompt</source>
        <translation>[Îñšpéçtör: šàmplîñg àñd šýštém prömpt············]</translation>
    </message>
    <message>
        <source>Write the last reply again</source>
        <translation>[Wrîté thé làšt réplý àgàîñ········]</translation>
    </message>
    <message>
        <source>Edit your last message</source>
        <translation>[Édît ýöúr làšt méššàgé·······]</translation>
    </message>
    <message>
        <source>Other branches of the reply</source>
        <translation>[Öthér bràñçhéš öf thé réplý·········]</translation>
    </message>
    <message>
        <source>Stop the reply</source>
        <translation>[Štöp thé réplý····]</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>[Špàçé·]</translation>
    </message>
    <message>
        <source>Pause the monitor</source>
        <translation>[Pàúšé thé möñîtör·····]</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>[Fúll šçrééñ···]</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>[Qúît·]</translation>
    </message>
    <message>
        <source>This help</source>
        <translation>[Thîš hélp···]</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>[Çlöšé·]</translation>
    </message>
</context>
<context>
    <name>TableBlock</name>
    <message numerus="yes">
        <source>Table with %n row(s)</source>
        <translation>
            <numerusform>[Tàblé wîth %n röw·····]</numerusform>
            <numerusform>[Tàblé wîth %n röwš······]</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ThinkingHead</name>
    <message>
        <source>Thinking…</source>
        <translation>[Thîñkîñg…···]</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>[Thîñkîñg··]</translation>
    </message>
    <message>
        <source>Shown. Press to fold it away.</source>
        <translation>[Šhöwñ. Préšš tö föld ît àwàý.·········]</translation>
    </message>
    <message>
        <source>Folded away. Press to show it.</source>
        <translation>[Földéd àwàý. Préšš tö šhöw ît.··········]</translation>
    </message>
</context>
<context>
    <name>ThroughputChart</name>
    <message>
        <source>decode</source>
        <translation>[déçödé··]</translation>
    </message>
    <message>
        <source>prefill</source>
        <translation>[préfîll··]</translation>
    </message>
    <message>
        <source>%1 %2 tok/s</source>
        <translation>[%1 %2 tök/š···]</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>[%1 tö %2··]</translation>
    </message>
    <message>
        <source>Throughput of the last two minutes</source>
        <translation>[Thröúghpút öf thé làšt twö mîñútéš···········]</translation>
    </message>
    <message>
        <source>Decode %1, prefill %2 tokens a second now</source>
        <translation>[Déçödé %1, préfîll %2 tökéñš à šéçöñd ñöw·············]</translation>
    </message>
</context>
<context>
    <name>Transcript</name>
    <message>
        <source>%1 tok/s</source>
        <translation>[%1 tök/š··]</translation>
    </message>
    <message>
        <source>%1 tok</source>
        <translation>[%1 tök··]</translation>
    </message>
    <message>
        <source>TTFT %1</source>
        <translation>[TTFT %1··]</translation>
    </message>
    <message>
        <source>prefix hit %1 %</source>
        <translation>[préfîx hît %1 %·····]</translation>
    </message>
    <message>
        <source>stop: %1</source>
        <translation>[štöp: %1··]</translation>
    </message>
</context>
<context>
    <name>TranscriptRow</name>
    <message>
        <source>left out of the prompt</source>
        <translation>[léft öút öf thé prömpt·······]</translation>
    </message>
    <message>
        <source>Put back in</source>
        <translation>[Pút bàçk îñ···]</translation>
    </message>
    <message>
        <source>The whole conversation goes into the prompt again.</source>
        <translation>[Thé whölé çöñvéršàtîöñ göéš îñtö thé prömpt àgàîñ.················]</translation>
    </message>
    <message>
        <source>Calls %1</source>
        <translation>[Çàllš %1··]</translation>
    </message>
    <message>
        <source>A chat has no tools: nothing was run.</source>
        <translation>[À çhàt hàš ñö töölš: ñöthîñg wàš rúñ.············]</translation>
    </message>
</context>
<context>
    <name>TranscriptView</name>
    <message>
        <source>Transcript</source>
        <translation>[Tràñšçrîpt···]</translation>
    </message>
    <message>
        <source>To the end</source>
        <translation>[Tö thé éñd···]</translation>
    </message>
</context>
<context>
    <name>Trouble</name>
    <message>
        <source>The conversations of before are not shown: their file is damaged.</source>
        <translation>[Thé çöñvéršàtîöñš öf béföré àré ñöt šhöwñ: théîr fîlé îš dàmàgéd.·····················]</translation>
    </message>
    <message>
        <source>%1. It was left as it is and is called %2 now; a new one was begun. If you have a copy of it, close Quern and put that back.</source>
        <translation>[%1. Ît wàš léft àš ît îš àñd îš çàlléd %2 ñöw; à ñéw öñé wàš bégúñ. Îf ýöú hàvé à çöpý öf ît, çlöšé Qúérñ àñd pút thàt bàçk.·········································]</translation>
    </message>
    <message>
        <source>What you say now will not be saved.</source>
        <translation>[Whàt ýöú šàý ñöw wîll ñöt bé šàvéd.···········]</translation>
    </message>
    <message>
        <source>%1. Conversations last until you close this window. Once it can be written, start Quern again.</source>
        <translation>[%1. Çöñvéršàtîöñš làšt úñtîl ýöú çlöšé thîš wîñdöw. Öñçé ît çàñ bé wrîttéñ, štàrt Qúérñ àgàîñ.·······························]</translation>
    </message>
    <message>
        <source>What you say now will not be saved, and the conversations of before are not shown.</source>
        <translation>[Whàt ýöú šàý ñöw wîll ñöt bé šàvéd, àñd thé çöñvéršàtîöñš öf béföré àré ñöt šhöwñ.···························]</translation>
    </message>
    <message>
        <source>%1. It was left as it is. Conversations last until you close this window.</source>
        <translation>[%1. Ît wàš léft àš ît îš. Çöñvéršàtîöñš làšt úñtîl ýöú çlöšé thîš wîñdöw.························]</translation>
    </message>
    <message>
        <source>The settings could not be read: the defaults hold.</source>
        <translation>[Thé šéttîñgš çöúld ñöt bé réàd: thé défàúltš höld.················]</translation>
    </message>
    <message>
        <source>%1. It was left as it is and is called %2 now.</source>
        <translation>[%1. Ît wàš léft àš ît îš àñd îš çàlléd %2 ñöw.···············]</translation>
    </message>
    <message>
        <source>Settings will not be saved.</source>
        <translation>[Šéttîñgš wîll ñöt bé šàvéd.·········]</translation>
    </message>
    <message>
        <source>%1. What you change lasts until you close this window.</source>
        <translation>[%1. Whàt ýöú çhàñgé làštš úñtîl ýöú çlöšé thîš wîñdöw.··················]</translation>
    </message>
    <message>
        <source>%1. It was left as it is. What you change lasts until you close this window.</source>
        <translation>[%1. Ît wàš léft àš ît îš. Whàt ýöú çhàñgé làštš úñtîl ýöú çlöšé thîš wîñdöw.·························]</translation>
    </message>
</context>
<context>
    <name>TurnFoot</name>
    <message>
        <source>The reply failed: %1</source>
        <translation>[Thé réplý fàîléd: %1······]</translation>
    </message>
    <message>
        <source>Interrupted. What was written is kept.</source>
        <translation>[Îñtérrúptéd. Whàt wàš wrîttéñ îš képt.············]</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>[Trý àgàîñ···]</translation>
    </message>
    <message>
        <source>Earlier branch (Alt+←)</source>
        <translation>[Éàrlîér bràñçh (Àlt+←)·······]</translation>
    </message>
    <message>
        <source>Branch %1 of %2</source>
        <translation>[Bràñçh %1 öf %2·····]</translation>
    </message>
    <message>
        <source>Later branch (Alt+→)</source>
        <translation>[Làtér bràñçh (Àlt+→)······]</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>[Çöpý àš Màrkdöwñ·····]</translation>
    </message>
    <message>
        <source>Write it again (Ctrl+R)</source>
        <translation>[Wrîté ît àgàîñ (Çtrl+R)·······]</translation>
    </message>
    <message>
        <source>Edit (Ctrl+E)</source>
        <translation>[Édît (Çtrl+É)····]</translation>
    </message>
    <message>
        <source>Being written in another program</source>
        <translation>[Béîñg wrîttéñ îñ àñöthér prögràm··········]</translation>
    </message>
    <message>
        <source>The context is full: the reply ends here, and no more will fit.</source>
        <translation>[Thé çöñtéxt îš fúll: thé réplý éñdš héré, àñd ñö möré wîll fît.·····················]</translation>
    </message>
    <message>
        <source>Raise the context…</source>
        <translation>[Ràîšé thé çöñtéxt…······]</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>[Ñéw çöñvéršàtîöñ·····]</translation>
    </message>
</context>
<context>
    <name>UndoBar</name>
    <message>
        <source>“%1” was deleted.</source>
        <translation>[“%1” wàš délétéd.·····]</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>[Úñdö·]</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>[Dîšmîšš··]</translation>
    </message>
</context>
<context>
    <name>quern::ui::Chat</name>
    <message>
        <source>Even alone, this message does not fit the context.</source>
        <translation>[Évéñ àlöñé, thîš méššàgé döéš ñöt fît thé çöñtéxt.················]</translation>
    </message>
    <message>
        <source>The reply is shown but could not be saved.</source>
        <translation>[Thé réplý îš šhöwñ bút çöúld ñöt bé šàvéd.··············]</translation>
    </message>
    <message>
        <source>Save again</source>
        <translation>[Šàvé àgàîñ···]</translation>
    </message>
    <message>
        <source>Your message could not be saved, so it was not sent.</source>
        <translation>[Ýöúr méššàgé çöúld ñöt bé šàvéd, šö ît wàš ñöt šéñt.·················]</translation>
    </message>
</context>
<context>
    <name>quern::ui::ChatSettings</name>
    <message>
        <source>The settings of this conversation could not be saved.</source>
        <translation>[Thé šéttîñgš öf thîš çöñvéršàtîöñ çöúld ñöt bé šàvéd.·················]</translation>
    </message>
</context>
<context>
    <name>quern::ui::ConversationList</name>
    <message>
        <source>Today</source>
        <translation>[Tödàý·]</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>[Ýéštérdàý···]</translation>
    </message>
    <message>
        <source>This week</source>
        <translation>[Thîš wéék···]</translation>
    </message>
    <message>
        <source>The conversations could not be read.</source>
        <translation>[Thé çöñvéršàtîöñš çöúld ñöt bé réàd.············]</translation>
    </message>
    <message>
        <source>The conversation could not be renamed.</source>
        <translation>[Thé çöñvéršàtîöñ çöúld ñöt bé réñàméd.············]</translation>
    </message>
    <message>
        <source>The conversation could not be deleted.</source>
        <translation>[Thé çöñvéršàtîöñ çöúld ñöt bé délétéd.············]</translation>
    </message>
    <message>
        <source>The conversation could not be brought back.</source>
        <translation>[Thé çöñvéršàtîöñ çöúld ñöt bé bröúght bàçk.··············]</translation>
    </message>
</context>
<context>
    <name>quern::ui::EngineFeed</name>
    <message>
        <source>%1 / %2 GiB</source>
        <translation>[%1 / %2 GîB···]</translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation>[%1 tök/š··]</translation>
    </message>
    <message>
        <source>Memory: weights %1, KV cache %2, other programs %3, free %4</source>
        <translation>[Mémörý: wéîghtš %1, KV çàçhé %2, öthér prögràmš %3, fréé %4···················]</translation>
    </message>
</context>
<context>
    <name>quern::ui::KvMapItem</name>
    <message>
        <source>Block %1</source>
        <translation>[Blöçk %1··]</translation>
    </message>
    <message>
        <source>tokens %1–%2</source>
        <translation>[tökéñš %1–%2····]</translation>
    </message>
    <message numerus="yes">
        <source>written %n step(s) ago</source>
        <translation>
            <numerusform>[wrîttéñ %n štép àgö······]</numerusform>
            <numerusform>[wrîttéñ %n štépš àgö······]</numerusform>
        </translation>
    </message>
    <message>
        <source>%1: free</source>
        <translation>[%1: fréé··]</translation>
    </message>
    <message>
        <source>%1: cached from request %2, %3, can be evicted, %4</source>
        <translation>[%1: çàçhéd fröm réqúéšt %2, %3, çàñ bé évîçtéd, %4················]</translation>
    </message>
    <message numerus="yes">
        <source>%1: shared prefix, %2, held by %n request(s), %3</source>
        <translation>
            <numerusform>[%1: šhàréd préfîx, %2, héld bý %n réqúéšt, %3···············]</numerusform>
            <numerusform>[%1: šhàréd préfîx, %2, héld bý %n réqúéštš, %3···············]</numerusform>
        </translation>
    </message>
    <message>
        <source>%1: request %2, %3, %4</source>
        <translation>[%1: réqúéšt %2, %3, %4·······]</translation>
    </message>
</context>
<context>
    <name>quern::ui::LoadSheet</name>
    <message>
        <source>The cache holds %1 tokens over all conversations</source>
        <translation>[Thé çàçhé höldš %1 tökéñš övér àll çöñvéršàtîöñš················]</translation>
    </message>
</context>
<context>
    <name>quern::ui::ModelHost</name>
    <message>
        <source>Another model is being loaded.</source>
        <translation>[Àñöthér mödél îš béîñg löàdéd.··········]</translation>
    </message>
    <message>
        <source>Cancel it first, or wait until it is ready.</source>
        <translation>[Çàñçél ît fîršt, ör wàît úñtîl ît îš réàdý.··············]</translation>
    </message>
    <message>
        <source>%1 could not be loaded.</source>
        <translation>[%1 çöúld ñöt bé löàdéd.·······]</translation>
    </message>
    <message>
        <source>Open Models</source>
        <translation>[Öpéñ Mödélš···]</translation>
    </message>
    <message>
        <source>%1 could not be unloaded.</source>
        <translation>[%1 çöúld ñöt bé úñlöàdéd.········]</translation>
    </message>
    <message>
        <source>Cancelling</source>
        <translation>[Çàñçéllîñg···]</translation>
    </message>
    <message>
        <source>Reading headers</source>
        <translation>[Réàdîñg héàdérš·····]</translation>
    </message>
    <message>
        <source>Taking over weights</source>
        <translation>[Tàkîñg övér wéîghtš······]</translation>
    </message>
    <message>
        <source>Making the KV cache</source>
        <translation>[Màkîñg thé KV çàçhé······]</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>[Réàdý·]</translation>
    </message>
    <message>
        <source>Measured after loading: the KV cache takes its memory as it fills.</source>
        <translation>[Méàšúréd àftér löàdîñg: thé KV çàçhé tàkéš îtš mémörý àš ît fîllš.······················]</translation>
    </message>
    <message>
        <source>Its file was changed since it was loaded. What is loaded still answers; load it anew to use the file as it is now.</source>
        <translation>[Îtš fîlé wàš çhàñgéd šîñçé ît wàš löàdéd. Whàt îš löàdéd štîll àñšwérš; löàd ît àñéw tö úšé thé fîlé àš ît îš ñöw.······································]</translation>
    </message>
    <message>
        <source>Its file is gone. What is loaded still answers, until it is unloaded.</source>
        <translation>[Îtš fîlé îš göñé. Whàt îš löàdéd štîll àñšwérš, úñtîl ît îš úñlöàdéd.·······················]</translation>
    </message>
</context>
<context>
    <name>quern::ui::ModelShelf</name>
    <message>
        <source>The models folder could not be read.</source>
        <translation>[Thé mödélš földér çöúld ñöt bé réàd.············]</translation>
    </message>
    <message>
        <source>This file cannot be used as a model.</source>
        <translation>[Thîš fîlé çàññöt bé úšéd àš à mödél.············]</translation>
    </message>
    <message>
        <source>The model could not be taken off the list.</source>
        <translation>[Thé mödél çöúld ñöt bé tàkéñ öff thé lîšt.··············]</translation>
    </message>
    <message>
        <source>Its file is gone.</source>
        <translation>[Îtš fîlé îš göñé.·····]</translation>
    </message>
</context>
<context>
    <name>quern::ui::Monitor</name>
    <message>
        <source>%1 blocks × %2 tokens · %3 · %4 % held · %5 % shared</source>
        <translation>[%1 blöçkš × %2 tökéñš · %3 · %4 % héld · %5 % šhàréd·················]</translation>
    </message>
    <message>
        <source>%1 states · %2 · %3 % held · %4 % shared</source>
        <translation>[%1 štàtéš · %2 · %3 % héld · %4 % šhàréd·············]</translation>
    </message>
</context>
<context>
    <name>quern::ui::OpenConversation</name>
    <message>
        <source>The conversation could not be opened.</source>
        <translation>[Thé çöñvéršàtîöñ çöúld ñöt bé öpéñéd.············]</translation>
    </message>
    <message>
        <source>The other branch could not be opened.</source>
        <translation>[Thé öthér bràñçh çöúld ñöt bé öpéñéd.············]</translation>
    </message>
</context>
<context>
    <name>quern::ui::ServerPanel</name>
    <message>
        <source>The server did not start: %1</source>
        <translation>[Thé šérvér dîd ñöt štàrt: %1·········]</translation>
    </message>
    <message>
        <source>This could not be remembered for the next start: %1</source>
        <translation>[Thîš çöúld ñöt bé rémémbéréd för thé ñéxt štàrt: %1·················]</translation>
    </message>
</context>
<context>
    <name>quern::ui::Session</name>
    <message>
        <source>A setting could not be saved.</source>
        <translation>[À šéttîñg çöúld ñöt bé šàvéd.·········]</translation>
    </message>
    <message>
        <source>The server did not start.</source>
        <translation>[Thé šérvér dîd ñöt štàrt.········]</translation>
    </message>
    <message>
        <source>Open Server</source>
        <translation>[Öpéñ Šérvér···]</translation>
    </message>
</context>
<context>
    <name>quern::ui::Transcript</name>
    <message>
        <source>You</source>
        <translation>[Ýöú·]</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>[Réplý·]</translation>
    </message>
</context>
</TS>