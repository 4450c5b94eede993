"""Words of headings, and units, in languages beside those of `headings`: Slavic, Turkish, Finnish, Korean, others."""

from sparkcast.study.heading_scripts import UNITS as _UNITS_OF_SCRIPTS

# Russian and Ukrainian, Czech and Slovak, Turkish, Finnish, Hungarian, Romanian, Greek, Indonesian, Korean, Arabic,
# Hebrew.
WORDS: dict[str, str] = {
    word: english
    for english, words in {
        "accuracy": "точность точність přesnost presnosť doğruluk tarkkuus pontosság acuratețe ακρίβεια akurasi "
        "정확도 الدقة דיוק",
        "batch": "пакет пакета батч батча dávka dávky yığın 배치",
        "batch_size": "배치크기",
        "comment": "примечание примечания комментарий примітка poznámka poznámky huomautus megjegyzés observații "
        "σχόλια catatan 비고 메모",
        "completed": "завершено закончено dokončeno tamamlandı valmis kész finalizat selesai terminou concluiu",
        "cores": "ядра ядер ядро jádra jader jadrá jadier çekirdek ytimiä ytimet ydintä magok nuclee πυρήνες "
        "코어 코어수",
        "cost": "стоимость затраты вартість náklady maliyet maliyeti kustannus kustannukset költség κόστος biaya "
        "비용 التكلفة עלות",
        "data": "данные данных дані даних dat veri datan adatok δεδομένα 데이터",
        "data_size": "adatméret 데이터크기 데이터량",
        "dataset": "датасет датасета aineisto 데이터셋",
        "date": "дата datum tarih päivä päivämäärä dátum ημερομηνία tanggal 날짜",
        "description": "описание опис popis açıklama kuvaus leírás descriere περιγραφή deskripsi 설명",
        "duration": "длительность продолжительность тривалість doba trvání trvanie süre süresi kesto időtartam "
        "διάρκεια durasi 소요시간 المدة",
        "elapsed_time": "경과시간",
        "end": "конец окончание кінець konec koniec bitiş loppu vége τέλος selesai 종료",
        "epochs": "эпохи эпох epochy epokit εποχές 에포크",
        "error": "ошибка ошибки помилка chyba hata virhe hiba eroare σφάλμα galat 오류",
        "executors": "исполнители исполнителей экзекьюторы экзекьюторов виконавці yürütücü executori 실행기 익스큐터",
        "fraction": "доля частка podíl oran osuus arány 비율",
        "input": "вход vstup girdi syöte bemenet intrare είσοδος masukan 입력",
        "instances": "экземпляры экземпляров instancí instanssit példányok instanțe 인스턴스",
        "iterations": "итерации итераций ітерації iterace iterací yineleme iteraatiot iterációk iterații "
        "επαναλήψεις iterasi 반복 반복횟수",
        "loss": "потери втрати ztráta kayıp häviö veszteség pierdere απώλεια kerugian 손실",
        "machine": "машина машины stroj makine kone gép mașină μηχανή mesin 머신",
        "machines": "машин stroje strojů koneet koneita gépek mașini μηχανές",
        "mean": "среднее середнє průměr ortalama keskiarvo átlag medie μέσος 평균",
        "memory": "память памяти пам paměť paměti pamäť bellek belleği muisti muistia memorie μνήμη memori "
        "메모리 الذاكرة זיכרון",
        "n": "число количество кол кількість počet sayısı adet adedi määrä lukumäärä lkm száma număr numărul "
        "αριθμός jumlah banyaknya 수 개수 갯수 qtd qtde عدد מספר",
        "node": "узел вузол uzel uzol düğüm solmu csomópont nod κόμβος simpul 노드",
        "nodes": "узлы узлов узлам вузли вузлів uzly uzlů uzlov solmut solmuja solmujen csomópontok noduri "
        "κόμβοι κόμβων 노드수 العقد",
        "no": "номер № číslo numara sıra sorszám 번호",
        "partitions": "партиции партиций разделы разделов oddíly bölüm osiot partíciók partiții partisi 파티션",
        "per": "на başına kohti",
        "precision": "정밀도",
        "price": "цена цены ціна fiyat hinta pret prețul τιμή harga 가격",
        "recall": "полнота повнота 재현율",
        "result": "результат итог výsledek výsledok sonuç tulos eredmény rezultat αποτέλεσμα hasil 결과",
        "rows": "строки строк рядки рядків řádky řádků riadky satır satırlar rivit rivejä sorok rânduri γραμμές "
        "baris 행수",
        "run": "запуск запуска прогон выполнения выполнение работы исполнения виконання роботи běh běhu výpočtu "
        "çalışma çalıştırma ajo suoritus futás futási rulare εκτέλεση εκτέλεσης eksekusi 실행 수행",
        "run_time": "suoritusaika ajoaika futásidő 실행시간 수행시간",
        "servers": "серверы серверов сервери servery serverů sunucu palvelimet szerverek servere διακομιστές "
        "서버 الخوادم שרתים",
        "size": "размер объем обсяг розмір velikost veľkosť boyut boyutu koko méret dimensiune μέγεθος ukuran 크기",
        "start": "начало початок začátek začiatok başlangıç alku kezdete început αρχή mulai 시작",
        "status": "статус состояние стан stav durum tila állapot stare κατάσταση 상태 الحالة סטטוס מצב",
        "success": "успех успешно успіх úspěch úspech başarı onnistui siker succes επιτυχία sukses 성공 성공여부",
        "throughput": "처리량",
        "time": "время час čas čas zaman aika aikaa idő timp χρόνος χρόνοσ waktu 시간 الوقت الزمن זמן",
        "total": "всего общее общая усього celkem celkom toplam yhteensä összesen σύνολο 총",
        "training": "обучения обучение навчання eğitim koulutus antrenare pelatihan 학습",
        "training_time": "학습시간",
        "type": "тип typ tür türü tyyppi típus τύπος tipe jenis 유형 종류",
        "used": "использовано використано použito kullanılan käytetty használt folosit digunakan 사용량",
        "user": "пользователь користувач uživatel užívateľ kullanıcı käyttäjä felhasználó utilizator χρήστης "
        "pengguna 사용자",
        "utilization": "загрузка завантаження využití kullanım käyttöaste kihasználtság utilizare 사용률",
        "workers": "воркеры воркеров рабочие işçi dolgozók 워커",
        "": "в во по из ять яті ve και",
    }.items()
    for word in words.split()
}
# What stands for a unit, in a heading and in a cell, as the unit that we write.
UNITS: dict[str, str] = _UNITS_OF_SCRIPTS | {
    unit: ours
    for ours, units in {
        "s": "с сек секунд секунды секунда секундах sn saniye sekund sekundy sekuntia másodperc secunde δευτ "
        "δευτερόλεπτα detik 초 ثانية שניות",
        "ms": "мс 밀리초",
        "min": "мин минут минуты минута минутах хв хвилин dk dakika minut minuuttia minuutit perc λεπτά menit 분 "
        "دقيقة דקות דק",
        "h": "ч час часа часов часах saat hod hodin hodina tuntia tunnit óra ώρες jam 시간 ساعة שעות",
        "d": "дней дня день gün dní päivää hari 일",
        "kb": "кб",
        "mb": "мб mt",
        "gb": "гб gt",
        "tb": "тб",
        "bytes": "байт 바이트",
        "rub": "руб рублей рубль",
        "uah": "грн",
        "krw": "원",
        "try": "tl",
        "czk": "kč",
        "brl": "r$ reais",
    }.items()
    for unit in units.split()
}
