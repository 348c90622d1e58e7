<?xml version='1.0' encoding='utf-8'?>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>MessageBar</name>
    <message numerus="yes">
        <source>%n more</source>
        <comment>messages behind this one</comment>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TableBlock</name>
    <message numerus="yes">
        <source>Table with %n row(s)</source>
        <translation>
            <numerusform>Table with %n row</numerusform>
            <numerusform>Table with %n rows</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>quern::ui::KvMapItem</name>
    <message numerus="yes">
        <source>written %n step(s) ago</source>
        <translation>
            <numerusform>written %n step ago</numerusform>
            <numerusform>written %n steps ago</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1: shared prefix, %2, held by %n request(s), %3</source>
        <translation>
            <numerusform>%1: shared prefix, %2, held by %n request, %3</numerusform>
            <numerusform>%1: shared prefix, %2, held by %n requests, %3</numerusform>
        </translation>
    </message>
</context>
</TS>